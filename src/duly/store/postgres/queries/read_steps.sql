SELECT
    position, seq, kind, name, status, attempt, due_at, result, error, log, asked_at, done_at
FROM duly.duly_steps
WHERE run_id = :run_id::uuid
ORDER BY position
