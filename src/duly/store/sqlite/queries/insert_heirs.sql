-- A run that goes on as another: what it was and where it stood is the other's. See insert_runs.
INSERT INTO duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, attempt, fence, fair_key, undo_at
)
SELECT
    :id, schedule_id, revision, 'child', :now, tenant, :job, queue, priority, :now, slot,
    0, lane, max_attempts, timeout_ms, :now, :payload, 0, 0,
    coalesce(fair_key, CASE WHEN queue IN (SELECT name FROM duly_queues WHERE fair) THEN tenant END), undo_at
FROM duly_runs
WHERE id = :old AND NOT EXISTS (SELECT 1 FROM duly_history AS h WHERE h.id = :id)
ON CONFLICT DO NOTHING
RETURNING id
