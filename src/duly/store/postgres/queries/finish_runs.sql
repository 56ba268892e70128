-- Found, guarded and joined as in complete_runs, and for the same reasons.
WITH gone AS (
    DELETE FROM duly.duly_runs AS r
    WHERE r.id = ANY (:id::uuid[]) AND (r.claimed_by IS NOT NULL OR r.hold = 3)
      AND ((r.id, r.fence, coalesce(r.claimed_by, 0)) IN (
          SELECT n.id, n.fence, coalesce(n.session, 0)
          FROM unnest(:id::uuid[], :fence::bigint[], :session::bigint[]) AS n (id, fence, session)
      )) IS TRUE
    RETURNING r.*
), ended AS MATERIALIZED (
    SELECT gone.*, n.allowed, n.status, n.reason, n.error, n.result
    FROM gone
    FULL JOIN unnest(
        :id::uuid[], :max_attempts::int[], :status::text[], :reason::text[], :error::text[], :result::text[]
    ) AS n (run_id, allowed, status, reason, error, result) ON n.run_id = gone.id
), kept AS (
    INSERT INTO duly.duly_history (
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        max_attempts, fence, session, due_at, fired_at, started_at, finished_at, error, payload, result,
        timeout_ms, lane
    )
    SELECT
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        allowed, fence, claimed_by, due_at, fired_at, started_at, :now::bigint, error, payload, result,
        CASE WHEN status = 'failed' THEN timeout_ms END,
        CASE WHEN status = 'failed' AND schedule_id IS NULL THEN lane END
    FROM ended
    WHERE id IS NOT NULL
    ON CONFLICT DO NOTHING
)
SELECT id::text, status FROM ended WHERE id IS NOT NULL
