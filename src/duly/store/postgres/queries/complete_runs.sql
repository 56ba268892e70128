-- Spread: see insert_runs. No index fits the guard on purpose: the row is found by its id alone, however stale the statistics are.
WITH gone AS (
    DELETE FROM duly_runs AS r
    USING unnest(:id::uuid[], :fence::bigint[], :session::bigint[], :result::text[], :reason::text[])
        AS n (id, fence, session, result, reason)
    WHERE r.id = n.id AND r.fence = coalesce(n.fence, (:fence::bigint[])[1])
      AND r.claimed_by IS NOT DISTINCT FROM coalesce(n.session, (:session::bigint[])[1])
      AND (r.claimed_by IS NOT NULL OR r.hold = 3)
    RETURNING
        r.*, CASE WHEN r.cancel_at IS NULL THEN 'completed' ELSE 'cancelled' END AS status,
        CASE WHEN r.cancel_at IS NULL THEN n.reason ELSE 'cancel_requested' END AS reason,
        CASE WHEN r.cancel_at IS NULL THEN n.result END AS result
), kept AS (
    INSERT INTO duly_history (
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        max_attempts, fence, session, due_at, fired_at, started_at, finished_at, payload, result
    )
    SELECT
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        max_attempts, fence, claimed_by, due_at, fired_at, started_at, :now::bigint, payload, result
    FROM gone
    ON CONFLICT DO NOTHING
)
SELECT id::text, status FROM gone
