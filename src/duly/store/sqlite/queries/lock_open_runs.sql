-- Differs from postgres: no row locks, a write transaction is alone.
SELECT id, job
FROM duly_runs
WHERE id IN (SELECT value FROM json_each(:ids))
