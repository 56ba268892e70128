-- The same run again, with its id and a fresh budget. Its fence goes on growing: old attempts stay refused.
WITH gone AS (
    DELETE FROM duly_history AS h
    USING unnest(:id::uuid[], :fence::bigint[], :slot::bigint[], :hold::smallint[], :lane::uuid[])
        AS n (id, fence, slot, hold, lane)
    WHERE h.id = n.id AND h.fence = n.fence AND h.status = 'failed'
    RETURNING h.*, n.slot, n.hold, n.lane
)
INSERT INTO duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    fence, timeout_ms, fired_at, payload
)
SELECT
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, :now::bigint, slot, hold, lane,
    max_attempts, fence, timeout_ms, fired_at, payload
FROM gone
RETURNING id::text
