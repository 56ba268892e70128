SELECT
    r.id::text, r.job, r.kind, r.queue, r.attempt, r.max_attempts, r.fence, r.payload, r.schedule_id::text, r.revision,
    r.window_at, r.due_at, r.fired_at, r.lane::text, r.timeout_ms, r.tenant,
    r.claimed_by, r.why
FROM (
    SELECT
        *,
        CASE
            WHEN NOT EXISTS (SELECT FROM duly.duly_instances AS i WHERE i.session = claimed_by) THEN 'session'
            WHEN deadline_at < :now::bigint THEN 'deadline'
            WHEN cancel_at < :cancelled_before::bigint THEN 'cancel'
        END AS why
    FROM duly.duly_runs
    WHERE claimed_by IS NOT NULL
) AS r
WHERE r.why IS NOT NULL
LIMIT :limit::bigint
