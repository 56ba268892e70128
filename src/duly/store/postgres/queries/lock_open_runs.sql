SELECT id::text, job
FROM duly_runs
WHERE id = ANY (:ids::uuid[])
ORDER BY id
FOR UPDATE
