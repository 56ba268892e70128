SELECT
    id, job, kind, queue, attempt, max_attempts, fence, payload, schedule_id, revision, window_at, due_at, fired_at,
    lane, timeout_ms, tenant
FROM duly_runs
WHERE claimed_by = :session
ORDER BY id
