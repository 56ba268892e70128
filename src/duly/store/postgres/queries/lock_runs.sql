SELECT r.id::text, r.attempt, r.max_attempts, r.cancel_at, r.started_at
FROM unnest(:id::uuid[], :fence::bigint[], :session::bigint[]) AS n (id, fence, session)
JOIN duly_runs AS r ON r.id = n.id AND r.fence = n.fence AND r.claimed_by IS NOT DISTINCT FROM n.session
    AND (r.claimed_by IS NOT NULL OR r.hold = 3)
ORDER BY r.id
FOR UPDATE OF r
