WITH new (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at, fair_key
) AS (
    VALUES (
        :id, :schedule_id, :revision, :kind, :window_at, :tenant, :job, :queue, :priority, :due_at, :slot, :hold, :lane,
        :max_attempts, :timeout_ms, :fired_at, :payload, :claimed_by, :attempt, :fence, :started_at, :deadline_at, :fair_key
    )
)
INSERT INTO duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at, fair_key
)
SELECT
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at,
    coalesce(fair_key, CASE WHEN queue IN (SELECT name FROM duly_queues WHERE fair) THEN tenant END)
FROM new
WHERE NOT EXISTS (SELECT 1 FROM duly_history AS h WHERE h.id = new.id)
ON CONFLICT DO NOTHING
RETURNING id
