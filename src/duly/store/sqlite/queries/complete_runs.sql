-- Differs from postgres: two statements with the same guard, since SQLite cannot delete inside a CTE.
-- Nothing changes runs between them: both run in one write transaction, which is alone.
WITH done (id, fence, session, result, reason) AS (VALUES (:id, :fence, :session, :result, :reason))
INSERT INTO duly_history (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt, max_attempts,
    fence, session, due_at, fired_at, started_at, finished_at, payload, result
)
SELECT
    r.id, r.schedule_id, r.revision, r.kind, r.window_at, r.tenant, r.job, r.queue, r.priority,
    CASE WHEN r.cancel_at IS NULL THEN 'completed' ELSE 'cancelled' END,
    CASE WHEN r.cancel_at IS NULL THEN done.reason ELSE 'cancel_requested' END,
    r.attempt, r.max_attempts, r.fence, r.claimed_by, r.due_at, r.fired_at, r.started_at, :now, r.payload,
    CASE WHEN r.cancel_at IS NULL THEN done.result END
FROM done CROSS JOIN duly_runs AS r
WHERE r.id = done.id AND r.fence = done.fence AND r.claimed_by IS done.session
  AND (r.claimed_by IS NOT NULL OR r.hold = 3)
ON CONFLICT DO NOTHING;

WITH done (id, fence, session) AS (VALUES (:id, :fence, :session))
DELETE FROM duly_runs
WHERE rowid IN (
    SELECT r.rowid FROM done CROSS JOIN duly_runs AS r
    WHERE r.id = done.id AND r.fence = done.fence AND r.claimed_by IS done.session
  AND (r.claimed_by IS NOT NULL OR r.hold = 3)
)
RETURNING id, CASE WHEN cancel_at IS NULL THEN 'completed' ELSE 'cancelled' END
