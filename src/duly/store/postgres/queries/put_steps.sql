-- What has ended stays as it was recorded first. A step that was recorded in a transaction of its own gets its place
-- among the ends (seq) afterwards.
INSERT INTO duly_steps (run_id, position, seq, kind, name, status, attempt, due_at, result, error, log, asked_at, done_at)
SELECT *
FROM unnest(
    :run_id::uuid[], :position::bigint[], :seq::bigint[], :kind::text[], :name::text[], :status::text[],
    :attempt::bigint[], :due_at::bigint[], :result::text[], :error::text[], :log::text[], :asked_at::bigint[],
    :done_at::bigint[]
)
ON CONFLICT (run_id, position) DO UPDATE SET
    seq = excluded.seq, status = excluded.status, attempt = excluded.attempt, due_at = excluded.due_at,
    result = excluded.result, error = excluded.error, log = excluded.log, done_at = excluded.done_at
WHERE duly_steps.status = 'asked' OR (duly_steps.kind = 'step' AND duly_steps.seq IS NULL)
