-- Snoozed attempts are counted as they are recorded, because only the newest are kept.
INSERT INTO duly_attempts (run_id, fence, attempt, outcome, error, started_at, ended_at, session, error_type, error_location, stack, stack_truncated, snoozes)
VALUES (
    :run_id, :fence, :attempt, :outcome, :error, :started_at, :ended_at, :session, :error_type, :error_location,
    :stack, :stack_truncated,
    CASE WHEN :outcome = 'snoozed'
        THEN 1 + coalesce((SELECT max(a.snoozes) FROM duly_attempts AS a WHERE a.run_id = :run_id), 0) END
)
ON CONFLICT DO NOTHING
