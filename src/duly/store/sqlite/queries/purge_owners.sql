DELETE FROM duly_owners
WHERE run_id IN (SELECT value FROM json_each(:ids))
