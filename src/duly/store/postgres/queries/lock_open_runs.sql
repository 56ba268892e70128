SELECT id::text, job
FROM duly.duly_runs
WHERE id = ANY (:ids::uuid[])
ORDER BY id
FOR UPDATE
