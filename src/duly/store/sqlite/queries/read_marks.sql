SELECT run_id, name, value
FROM duly_marks
WHERE run_id IN (SELECT value FROM json_each(:ids))
ORDER BY run_id, name
