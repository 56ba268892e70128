UPDATE duly_operations SET status = 'failed', error = :error, updated_at = :now, finished_at = :now
WHERE updated_at >= 0 AND status = 'running' AND kind = 'resume_all'
