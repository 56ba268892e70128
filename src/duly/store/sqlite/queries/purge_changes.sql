DELETE FROM duly_changes
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
