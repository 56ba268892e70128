-- Snoozed attempts are counted as they are recorded, because only the newest are kept.
INSERT INTO duly.duly_attempts (run_id, fence, attempt, outcome, error, started_at, ended_at, session, error_type, error_location, stack, stack_truncated, snoozes)
SELECT
    n.*,
    CASE WHEN n.outcome = 'snoozed'
        THEN 1 + coalesce((SELECT max(a.snoozes) FROM duly.duly_attempts AS a WHERE a.run_id = n.run_id), 0) END
FROM unnest(
    :run_id::uuid[], :fence::bigint[], :attempt::int[], :outcome::text[], :error::text[], :started_at::bigint[],
    :ended_at::bigint[], :session::bigint[], :error_type::text[], :error_location::text[], :stack::text[], :stack_truncated::boolean[]
) AS n (run_id, fence, attempt, outcome, error, started_at, ended_at, session, error_type, error_location, stack, stack_truncated)
ON CONFLICT DO NOTHING
