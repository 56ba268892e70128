DELETE FROM duly_redrives
WHERE run_id IN (SELECT value FROM json_each(:ids))
