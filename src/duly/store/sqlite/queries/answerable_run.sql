-- A run at a fence that a receiver may answer for: it awaits that, or its delivery is not written yet.
SELECT
    id, job, kind, queue, attempt, max_attempts, fence, payload, schedule_id, revision,
    window_at, due_at, fired_at, lane, timeout_ms, tenant, claimed_by
FROM duly_runs
WHERE id = :id AND fence = :fence AND (claimed_by IS NOT NULL OR hold = 3)
