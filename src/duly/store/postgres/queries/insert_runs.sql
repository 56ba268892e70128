-- A run that has ended is in the history under the same id and must not come back.
INSERT INTO duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at
)
SELECT n.*
FROM unnest(
    :id::uuid[], :schedule_id::uuid[], :revision::int[], :kind::text[], :window_at::bigint[], :tenant::text[],
    :job::text[], :queue::text[], :priority::int[], :due_at::bigint[], :slot::bigint[], :hold::smallint[],
    :lane::uuid[], :max_attempts::int[], :timeout_ms::bigint[], :fired_at::bigint[], :payload::text[],
    :claimed_by::bigint[], :attempt::int[], :fence::bigint[], :started_at::bigint[], :deadline_at::bigint[]
) AS n (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at
)
WHERE NOT EXISTS (SELECT FROM duly_history AS h WHERE h.id = n.id)
ON CONFLICT DO NOTHING
RETURNING id::text
