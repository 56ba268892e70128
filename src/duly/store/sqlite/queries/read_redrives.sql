SELECT run_id, fence, made_run
FROM duly_redrives
WHERE run_id IN (SELECT value FROM json_each(:ids))
