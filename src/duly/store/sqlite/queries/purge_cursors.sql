DELETE FROM duly_cursors
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
