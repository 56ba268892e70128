-- The same run again, with its id and a fresh budget. Its fence goes on growing: old attempts stay refused.
WITH gone AS (
    DELETE FROM duly.duly_history AS h
    USING unnest(:id::uuid[], :fence::bigint[], :slot::bigint[], :hold::smallint[], :lane::uuid[])
        AS n (id, fence, slot, hold, lane)
    WHERE h.id = n.id AND h.fence = n.fence AND h.status = 'failed'
    RETURNING h.*, n.slot, n.hold, n.lane AS goes_into
)
INSERT INTO duly.duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    fence, timeout_ms, fired_at, payload, fair_key
)
SELECT
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, :now::bigint, slot, hold, goes_into,
    max_attempts, fence, timeout_ms, fired_at, payload,
    CASE WHEN queue IN (SELECT q.name FROM duly.duly_queues AS q WHERE q.fair) THEN tenant END
FROM gone
RETURNING id::text
