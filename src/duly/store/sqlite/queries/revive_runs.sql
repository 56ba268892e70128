-- The same run again, with its id and a fresh budget. Its fence goes on growing: old attempts stay refused.
-- Differs from postgres: two statements with the same guard, since SQLite cannot delete inside a CTE.
WITH dead (id, fence, slot, hold, lane) AS (VALUES (:id, :fence, :slot, :hold, :lane))
INSERT INTO duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    fence, timeout_ms, fired_at, payload, fair_key
)
SELECT
    h.id, h.schedule_id, h.revision, h.kind, h.window_at, h.tenant, h.job, h.queue, h.priority, :now, dead.slot,
    dead.hold, dead.lane, h.max_attempts, h.fence, h.timeout_ms, h.fired_at, h.payload,
    CASE WHEN h.queue IN (SELECT name FROM duly_queues WHERE fair) THEN h.tenant END
FROM dead CROSS JOIN duly_history AS h
WHERE h.id = dead.id AND h.fence = dead.fence AND +h.status = 'failed';

WITH dead (id, fence) AS (VALUES (:id, :fence))
DELETE FROM duly_history
WHERE rowid IN (
    SELECT h.rowid FROM dead CROSS JOIN duly_history AS h
    WHERE h.id = dead.id AND h.fence = dead.fence AND +h.status = 'failed'
)
RETURNING id
