-- A run that has ended is in the history under the same id and must not come back.
-- Spread: a column that is the same in every row comes as one element, and the rows that have none take that.
INSERT INTO duly.duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at, fair_key
)
SELECT
    n.id, n.schedule_id, n.revision, coalesce(n.kind, (:kind::text[])[1]), n.window_at,
    coalesce(n.tenant, (:tenant::text[])[1]), coalesce(n.job, (:job::text[])[1]),
    coalesce(n.queue, (:queue::text[])[1]), coalesce(n.priority, (:priority::int[])[1]),
    coalesce(n.due_at, (:due_at::bigint[])[1]), coalesce(n.slot, (:slot::bigint[])[1]),
    coalesce(n.hold, (:hold::smallint[])[1]), n.lane, coalesce(n.max_attempts, (:max_attempts::int[])[1]),
    n.timeout_ms, coalesce(n.fired_at, (:fired_at::bigint[])[1]), n.payload, n.claimed_by,
    coalesce(n.attempt, (:attempt::int[])[1]), coalesce(n.fence, (:fence::bigint[])[1]), n.started_at, n.deadline_at,
    CASE
        WHEN n.fair_key IS NOT NULL THEN n.fair_key
        WHEN coalesce(n.queue, (:queue::text[])[1]) IN (SELECT q.name FROM duly.duly_queues AS q WHERE q.fair)
            THEN coalesce(n.tenant, (:tenant::text[])[1])
    END
FROM unnest(
    :id::uuid[], :schedule_id::uuid[], :revision::int[], :kind::text[], :window_at::bigint[], :tenant::text[],
    :job::text[], :queue::text[], :priority::int[], :due_at::bigint[], :slot::bigint[], :hold::smallint[],
    :lane::uuid[], :max_attempts::int[], :timeout_ms::bigint[], :fired_at::bigint[], :payload::text[],
    :claimed_by::bigint[], :attempt::int[], :fence::bigint[], :started_at::bigint[], :deadline_at::bigint[],
    :fair_key::text[]
) AS n (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at, fair_key
)
WHERE NOT EXISTS (SELECT FROM duly.duly_history AS h WHERE h.id = n.id)
ON CONFLICT DO NOTHING
RETURNING id::text
