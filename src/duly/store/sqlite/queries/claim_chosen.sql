-- Differs from postgres: no row locks, a write transaction is alone.
UPDATE duly_runs SET
    claimed_by = :session,
    fence = fence + 1,
    attempt = attempt + 1,
    started_at = :now,
    deadline_at = :now + timeout_ms + :deadline_grace
WHERE id IN (SELECT value FROM json_each(:ids)) AND claimed_by IS NULL AND hold = 0
RETURNING
    id, job, kind, queue, attempt, max_attempts, fence, payload, schedule_id, revision, window_at, due_at, fired_at,
    lane, timeout_ms, tenant
