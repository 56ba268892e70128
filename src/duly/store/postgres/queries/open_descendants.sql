WITH RECURSIVE below (id, depth) AS (
    SELECT run_id, 1 FROM duly.duly_children WHERE parent_id = :id::uuid
    UNION
    SELECT c.run_id, below.depth + 1 FROM below JOIN duly.duly_children AS c ON c.parent_id = below.id WHERE below.depth < 100
)
SELECT r.id::text, max(below.depth)
FROM below
JOIN duly.duly_runs AS r ON r.id = below.id
GROUP BY r.id
ORDER BY 2 DESC, 1
