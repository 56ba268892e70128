-- The mark stays while somebody has the run: only an end in order takes it away.
UPDATE duly.duly_runs AS r
SET claimed_by = :session::bigint, fence = r.fence + 1, attempt = r.attempt + 1, started_at = :now::bigint,
    deadline_at = :now::bigint + r.timeout_ms + :deadline_grace::bigint
WHERE r.id = ANY (:ids::uuid[]) AND r.claimed_by IS NULL AND r.hold = 5
RETURNING
    r.id::text, r.job, r.kind, r.queue, r.attempt, r.max_attempts, r.fence, r.payload, r.schedule_id::text, r.revision,
    r.window_at, r.due_at, r.fired_at, r.lane::text, r.timeout_ms, r.tenant
