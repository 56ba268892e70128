SELECT schedule_id, made_at, made_by, fields
FROM duly_changes
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
ORDER BY schedule_id, number
