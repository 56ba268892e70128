-- A run at a fence that a receiver may answer for: it awaits that, or its delivery is not written yet.
SELECT
    id::text, job, kind, queue, attempt, max_attempts, fence, payload, schedule_id::text, revision,
    window_at, due_at, fired_at, lane::text, timeout_ms, tenant, claimed_by
FROM duly.duly_runs
WHERE id = :id::uuid AND fence = :fence::bigint AND (claimed_by IS NOT NULL OR hold = 3)
