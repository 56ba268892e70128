SELECT run_id::text, name, value
FROM duly.duly_marks
WHERE run_id = ANY (:ids::uuid[])
ORDER BY run_id, name
