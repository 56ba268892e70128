-- Differs from postgres: no row locks, a write transaction is alone.
SELECT
    id, fence, schedule_id, revision, kind, window_at, tenant, job, queue, priority, max_attempts, timeout_ms,
    finished_at, payload, acked_at, reason, lane
FROM duly_history AS h
WHERE id IN (SELECT value FROM json_each(:ids)) AND +status = 'failed'
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = h.id AND w.tenant = :tenant) = :owner)
ORDER BY id
