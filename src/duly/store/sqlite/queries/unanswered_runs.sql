-- Runs that were handed to a receiver outside, and whose time to answer is over.
SELECT
    id, job, kind, queue, attempt, max_attempts, fence, payload, schedule_id, revision,
    window_at, due_at, fired_at, lane, timeout_ms, tenant
FROM duly_runs
WHERE hold = 3 AND claimed_by IS NULL AND due_at <= :now
ORDER BY due_at
LIMIT :limit
