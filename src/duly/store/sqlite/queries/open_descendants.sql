WITH RECURSIVE below (id, depth) AS (
    SELECT run_id, 1 FROM duly_children WHERE parent_id = :id
    UNION
    SELECT c.run_id, below.depth + 1 FROM below JOIN duly_children AS c ON c.parent_id = below.id WHERE below.depth < 100
)
SELECT r.id, max(below.depth)
-- CROSS keeps the order: few descendants, each looked up among the open runs.
FROM below
CROSS JOIN duly_runs AS r ON r.id = below.id
GROUP BY r.id
ORDER BY 2 DESC, 1
