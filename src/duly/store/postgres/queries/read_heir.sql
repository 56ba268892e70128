-- Of the runs that a run went on as, the one that lives; else the newest.
SELECT c.run_id::text
FROM duly.duly_children AS c
LEFT JOIN duly.duly_runs AS r ON r.id = c.run_id
WHERE c.parent_id = :root::uuid AND c.position = -1
ORDER BY r.id IS NULL, c.run_id DESC
LIMIT 1
