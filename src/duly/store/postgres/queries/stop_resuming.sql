UPDATE duly.duly_operations SET status = 'failed', error = :error::text, updated_at = :now::bigint, finished_at = :now::bigint
WHERE updated_at >= 0 AND status = 'running' AND kind = 'resume_all'
