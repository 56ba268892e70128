-- Differs from postgres: no row locks, a write transaction is alone.
UPDATE duly_runs SET
    claimed_by = :session,
    fence = fence + 1,
    attempt = attempt + 1,
    started_at = :now,
    deadline_at = :now + timeout_ms + :deadline_grace
WHERE rowid IN (
    SELECT rowid FROM duly_runs
    WHERE claimed_by IS NULL AND hold = 0 AND queue = :queue AND priority = :priority
      AND due_at BETWEEN :floor AND :now
      AND (job IN (SELECT value FROM json_each(:jobs))
        OR (job GLOB 'topic:*' AND 'topic:*' IN (SELECT value FROM json_each(:jobs))))
    ORDER BY due_at, slot
    LIMIT :limit
)
RETURNING
    id, job, kind, queue, attempt, max_attempts, fence, payload, schedule_id, revision, window_at, due_at, fired_at,
    lane, timeout_ms, tenant
