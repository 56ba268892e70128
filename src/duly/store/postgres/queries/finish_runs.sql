-- No index fits the guard on purpose: see complete_runs.
WITH gone AS (
    DELETE FROM duly_runs AS r
    USING unnest(
        :id::uuid[], :fence::bigint[], :session::bigint[], :status::text[], :reason::text[], :error::text[],
        :result::text[]
    ) AS n (id, fence, session, status, reason, error, result)
    WHERE r.id = n.id AND r.fence = n.fence AND r.claimed_by IS NOT DISTINCT FROM n.session
    AND (r.claimed_by IS NOT NULL OR r.hold = 3)
    RETURNING r.*, n.status, n.reason, n.error, n.result
), kept AS (
    INSERT INTO duly_history (
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        max_attempts, fence, session, due_at, fired_at, started_at, finished_at, error, payload, result,
        timeout_ms, lane
    )
    SELECT
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        max_attempts, fence, claimed_by, due_at, fired_at, started_at, :now::bigint, error, payload, result,
        CASE WHEN status = 'failed' THEN timeout_ms END,
        CASE WHEN status = 'failed' AND schedule_id IS NULL THEN lane END
    FROM gone
    ON CONFLICT DO NOTHING
)
SELECT id::text, status FROM gone
