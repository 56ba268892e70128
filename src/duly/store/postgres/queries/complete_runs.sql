-- Spread: see insert_runs. The row is found by its id alone, whatever the statistics say: those of an empty table let the
-- planner begin with all that vacuum has left, or compare every row with every end. So the guard is looked up in a hash
-- (IS TRUE keeps it from becoming a join), and a FULL JOIN, which has no nested loop, adds what the run ended with.
WITH gone AS (
    DELETE FROM duly.duly_runs AS r
    WHERE r.id = ANY (:id::uuid[]) AND (r.claimed_by IS NOT NULL OR r.hold = 3)
      AND ((r.id, r.fence, coalesce(r.claimed_by, 0)) IN (
          SELECT n.id, coalesce(n.fence, (:fence::bigint[])[1]), coalesce(n.session, (:session::bigint[])[1], 0)
          FROM unnest(:id::uuid[], :fence::bigint[], :session::bigint[]) AS n (id, fence, session)
      )) IS TRUE
    RETURNING r.*, CASE WHEN r.cancel_at IS NULL THEN 'completed' ELSE 'cancelled' END AS status
), ended AS MATERIALIZED (
    SELECT
        gone.*, CASE WHEN cancel_at IS NULL THEN n.reason ELSE 'cancel_requested' END AS reason,
        CASE WHEN cancel_at IS NULL THEN n.result END AS result
    FROM gone
    FULL JOIN unnest(:id::uuid[], :result::text[], :reason::text[]) AS n (run_id, result, reason) ON n.run_id = gone.id
), kept AS (
    INSERT INTO duly.duly_history (
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        max_attempts, fence, session, due_at, fired_at, started_at, finished_at, payload, result
    )
    SELECT
        id, schedule_id, revision, kind, window_at, tenant, job, queue, priority, status, reason, attempt,
        max_attempts, fence, claimed_by, due_at, fired_at, started_at, :now::bigint, payload, result
    FROM ended
    WHERE id IS NOT NULL
    ON CONFLICT DO NOTHING
)
SELECT id::text, status FROM ended WHERE id IS NOT NULL
