SELECT
    r.id::text, r.job, r.kind, r.queue, r.attempt, r.max_attempts, r.fence, r.payload, r.schedule_id::text, r.revision,
    r.window_at, r.due_at, r.fired_at, r.lane::text, r.timeout_ms, r.tenant
FROM duly.duly_runs AS r
WHERE r.claimed_by = :session::bigint
