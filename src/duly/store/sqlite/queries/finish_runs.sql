-- Differs from postgres: two statements with the same guard, since SQLite cannot delete inside a CTE.
-- Nothing changes runs between them: both run in one write transaction, which is alone.
WITH done (id, fence, session, max_attempts, status, reason, error, result) AS (
    VALUES (:id, :fence, :session, :max_attempts, :status, :reason, :error, :result)
)
INSERT INTO duly_history (
    id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt, max_attempts,
    fence, session, due_at, fired_at, started_at, finished_at, error, payload, result, timeout_ms,
    lane
)
SELECT
    r.id, r.schedule_id, r.revision, r.kind, r.window_at, r.tenant, r.job, r.queue, r.priority, done.status,
    done.reason, r.attempt, done.max_attempts, r.fence, r.claimed_by, r.due_at, r.fired_at, r.started_at, :now,
    done.error, r.payload, done.result, CASE WHEN done.status = 'failed' THEN r.timeout_ms END,
    CASE WHEN done.status = 'failed' AND r.schedule_id IS NULL THEN r.lane END
FROM done CROSS JOIN duly_runs AS r
WHERE r.id = done.id AND r.fence = done.fence AND r.claimed_by IS done.session
  AND (r.claimed_by IS NOT NULL OR r.hold = 3)
ON CONFLICT DO NOTHING;

DELETE FROM duly_runs
WHERE id = :id AND fence = :fence AND claimed_by IS :session AND (claimed_by IS NOT NULL OR hold = 3)
RETURNING id, :status
