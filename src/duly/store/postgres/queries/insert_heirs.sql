-- A run that goes on as another: what it was and where it stood is the other's. See insert_runs.
INSERT INTO duly.duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, attempt, fence, fair_key, undo_at
)
SELECT
    n.id, r.schedule_id, r.revision, 'child', :now::bigint, r.tenant, n.job, r.queue, r.priority, :now::bigint, r.slot,
    0, r.lane, r.max_attempts, r.timeout_ms, :now::bigint, n.payload, 0, 0,
    coalesce(r.fair_key, CASE WHEN r.queue IN (SELECT q.name FROM duly.duly_queues AS q WHERE q.fair) THEN r.tenant END),
    r.undo_at
FROM unnest(:old::uuid[], :id::uuid[], :job::text[], :payload::text[]) AS n (old, id, job, payload)
JOIN duly.duly_runs AS r ON r.id = n.old
WHERE NOT EXISTS (SELECT FROM duly.duly_history AS h WHERE h.id = n.id)
ON CONFLICT DO NOTHING
RETURNING id::text
