SELECT id, 1 FROM duly_runs WHERE id IN (SELECT value FROM json_each(:ids))
UNION ALL
SELECT id, 0 FROM duly_history WHERE id IN (SELECT value FROM json_each(:ids))
