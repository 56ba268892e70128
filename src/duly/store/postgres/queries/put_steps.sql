-- What has ended stays as it was recorded first. A step that was recorded in a transaction of its own gets its place
-- among the ends (seq) afterwards, and nothing else.
INSERT INTO duly.duly_steps (run_id, position, seq, kind, name, status, attempt, due_at, result, error, log, asked_at, done_at)
SELECT *
FROM unnest(
    :run_id::uuid[], :position::bigint[], :seq::bigint[], :kind::text[], :name::text[], :status::text[],
    :attempt::bigint[], :due_at::bigint[], :result::text[], :error::text[], :log::text[], :asked_at::bigint[],
    :done_at::bigint[]
)
ON CONFLICT (run_id, position) DO UPDATE SET
    seq = excluded.seq,
    status = CASE duly_steps.status WHEN 'asked' THEN excluded.status ELSE duly_steps.status END,
    attempt = CASE duly_steps.status WHEN 'asked' THEN excluded.attempt ELSE duly_steps.attempt END,
    due_at = CASE duly_steps.status WHEN 'asked' THEN excluded.due_at ELSE duly_steps.due_at END,
    result = CASE duly_steps.status WHEN 'asked' THEN excluded.result ELSE duly_steps.result END,
    error = CASE duly_steps.status WHEN 'asked' THEN excluded.error ELSE duly_steps.error END,
    log = CASE duly_steps.status WHEN 'asked' THEN excluded.log ELSE duly_steps.log END,
    done_at = CASE duly_steps.status WHEN 'asked' THEN excluded.done_at ELSE duly_steps.done_at END
WHERE duly_steps.status = 'asked' OR (duly_steps.kind = 'step' AND duly_steps.seq IS NULL)
