WITH picked AS MATERIALIZED (
    SELECT id
    FROM duly.duly_runs
    WHERE claimed_by IS NULL AND hold = 0
      AND queue = :queue::text AND priority = :priority::int AND due_at BETWEEN :floor::bigint AND :now::bigint
      AND (job = ANY (:jobs::text[]) OR (job LIKE 'topic:%' AND 'topic:*' = ANY (:jobs::text[])))
    ORDER BY due_at, slot
    LIMIT :limit::bigint
    FOR UPDATE SKIP LOCKED
)
UPDATE duly.duly_runs AS r
SET claimed_by = :session::bigint, fence = r.fence + 1, attempt = r.attempt + 1, started_at = :now::bigint,
    deadline_at = :now::bigint + r.timeout_ms + :deadline_grace::bigint
WHERE r.id = ANY (ARRAY(SELECT id FROM picked))
RETURNING
    r.id::text, r.job, r.kind, r.queue, r.attempt, r.max_attempts, r.fence, r.payload, r.schedule_id::text, r.revision,
    r.window_at, r.due_at, r.fired_at, r.lane::text, r.timeout_ms, r.tenant
