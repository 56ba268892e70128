-- Differs from postgres: two statements, since SQLite cannot delete inside a CTE.
-- Nothing changes runs between them: both run in one write transaction, which is alone.
WITH wanted (id) AS (VALUES (:id))
INSERT INTO duly_history (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt, max_attempts,
    fence, due_at, fired_at, started_at, finished_at, payload
)
SELECT
    r.id, r.schedule_id, r.revision, r.kind, r.window_at, r.tenant, r.job, r.queue, r.priority, :status, :reason,
    r.attempt, r.max_attempts, r.fence, r.due_at, r.fired_at, r.started_at, :now, r.payload
FROM wanted CROSS JOIN duly_runs AS r
WHERE r.id = wanted.id AND r.claimed_by IS NULL AND r.hold = coalesce(:hold, r.hold)
ON CONFLICT DO NOTHING;

WITH wanted (id) AS (VALUES (:id))
DELETE FROM duly_runs
WHERE id IN (SELECT id FROM wanted) AND claimed_by IS NULL AND hold = coalesce(:hold, hold)
RETURNING id
