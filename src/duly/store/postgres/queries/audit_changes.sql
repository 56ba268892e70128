SELECT schedule_id::text, made_at, made_by, fields
FROM duly.duly_changes
WHERE schedule_id = ANY (:ids::uuid[])
ORDER BY schedule_id, number
