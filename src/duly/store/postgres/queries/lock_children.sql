-- Until the commit none of the runs that these wait for ends; who is ending one is waited for.
SELECT r.id::text
FROM duly.duly_children AS c
JOIN duly.duly_runs AS r ON r.id = c.run_id
WHERE c.parent_id = ANY (:ids::uuid[]) AND c.position > 0
ORDER BY r.id
FOR UPDATE OF r
