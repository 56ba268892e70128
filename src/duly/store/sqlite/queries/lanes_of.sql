SELECT DISTINCT lane FROM duly_runs
WHERE id IN (SELECT value FROM json_each(:ids)) AND schedule_id IS NULL AND lane IS NOT NULL
