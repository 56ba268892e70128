-- When nothing fired, and which schedules are being removed with all that they left.
SELECT kind, made_at, finished_at, body
FROM duly.duly_operations
WHERE kind IN ('pause_all', 'resume_all') OR (kind = 'purge' AND status = 'running')
ORDER BY made_at, id
