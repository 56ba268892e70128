SELECT run_id, max(n)
FROM duly_inbox
WHERE run_id IN (SELECT value FROM json_each(:ids))
GROUP BY run_id
