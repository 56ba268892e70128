DELETE FROM duly_schedules
WHERE id IN (SELECT value FROM json_each(:ids))
