UPDATE duly_steps SET status = 'asked', seq = NULL, result = NULL, error = NULL, done_at = NULL
WHERE run_id = :run_id AND position = :position
