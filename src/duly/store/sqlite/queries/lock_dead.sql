-- Differs from postgres: no row locks, a write transaction is alone.
SELECT
    id, fence, schedule_id, revision, kind, window_at, tenant, job, queue, priority, max_attempts, timeout_ms,
    finished_at, payload, acked_at, reason, lane
FROM duly_history
WHERE id IN (SELECT value FROM json_each(:ids)) AND +status = 'failed'
ORDER BY id
