WITH new (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at
) AS (
    VALUES (
        :id, :schedule_id, :revision, :kind, :window_at, :tenant, :job, :queue, :priority, :due_at, :slot, :hold, :lane,
        :max_attempts, :timeout_ms, :fired_at, :payload, :claimed_by, :attempt, :fence, :started_at, :deadline_at
    )
)
INSERT INTO duly_runs (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, due_at, slot, hold, lane, max_attempts,
    timeout_ms, fired_at, payload, claimed_by, attempt, fence, started_at, deadline_at
)
SELECT * FROM new
WHERE NOT EXISTS (SELECT 1 FROM duly_history AS h WHERE h.id = new.id)
ON CONFLICT DO NOTHING
RETURNING id
