-- Runs that were handed to a receiver outside, and whose time to answer is over.
SELECT
    id::text, job, kind, queue, attempt, max_attempts, fence, payload, schedule_id::text, revision,
    window_at, due_at, fired_at, lane::text, timeout_ms, tenant
FROM duly.duly_runs
WHERE hold = 3 AND claimed_by IS NULL AND due_at <= :now::bigint
ORDER BY due_at
LIMIT :limit::bigint
