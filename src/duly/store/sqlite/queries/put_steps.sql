-- What has ended stays as it was recorded first. A step that was recorded in a transaction of its own gets its place
-- among the ends (seq) afterwards.
INSERT INTO duly_steps (run_id, position, seq, kind, name, status, attempt, due_at, result, error, log, asked_at, done_at)
VALUES (
    :run_id, :position, :seq, :kind, :name, :status, :attempt, :due_at, :result, :error, :log, :asked_at, :done_at
)
ON CONFLICT (run_id, position) DO UPDATE SET
    seq = excluded.seq, status = excluded.status, attempt = excluded.attempt, due_at = excluded.due_at,
    result = excluded.result, error = excluded.error, log = excluded.log, done_at = excluded.done_at
WHERE duly_steps.status = 'asked' OR (duly_steps.kind = 'step' AND duly_steps.seq IS NULL)
