UPDATE duly_runs SET max_attempts = attempt
WHERE id IN (SELECT value FROM json_each(:ids))
