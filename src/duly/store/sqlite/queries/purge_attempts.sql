DELETE FROM duly_attempts
WHERE run_id IN (SELECT value FROM json_each(:ids))
