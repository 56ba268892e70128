-- The newest message that no body has taken: whoever reads a run's messages anew hears of no others.
SELECT run_id, max(n)
FROM duly_inbox
WHERE run_id IN (SELECT value FROM json_each(:ids)) AND taken = 0
GROUP BY run_id
