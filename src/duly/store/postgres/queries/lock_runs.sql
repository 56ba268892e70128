-- Found and guarded as in complete_runs, and for the same reasons.
SELECT r.id::text, r.attempt, r.max_attempts, r.cancel_at, r.started_at
FROM duly.duly_runs AS r
WHERE r.id = ANY (:id::uuid[]) AND (r.claimed_by IS NOT NULL OR r.hold = 3)
  AND ((r.id, r.fence, coalesce(r.claimed_by, 0)) IN (
      SELECT n.id, n.fence, coalesce(n.session, 0)
      FROM unnest(:id::uuid[], :fence::bigint[], :session::bigint[]) AS n (id, fence, session)
  )) IS TRUE
ORDER BY r.id
FOR UPDATE OF r
