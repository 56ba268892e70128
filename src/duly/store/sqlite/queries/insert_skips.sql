WITH new (id, schedule_id, revision, window_at, since, windows, tenant, job, queue, reason, fired_at, detail) AS (
    VALUES (
        :id, :schedule_id, :revision, :window_at, :since, :windows, :tenant, :job, :queue, :reason, :fired_at, :detail
    )
)
INSERT INTO duly_history (
    id, schedule_id, revision, kind, window_at, since, windows, tenant, job, queue, priority, status, reason,
    attempt, max_attempts, fence, due_at, fired_at, finished_at, error
)
SELECT
    id, schedule_id, revision, 'window', window_at, since, windows, tenant, job, queue, 0, 'skipped', reason,
    0, 0, 0, fired_at, fired_at, fired_at, detail
FROM new
WHERE NOT EXISTS (SELECT 1 FROM duly_runs AS r WHERE r.id = new.id)
ON CONFLICT DO NOTHING
RETURNING id
