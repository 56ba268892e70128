-- No index fits the guard on purpose: see complete_runs. Few at a time: here a planner that thinks the table empty joins by
-- comparing each with each.
UPDATE duly.duly_runs AS r
SET claimed_by = NULL, deadline_at = NULL, due_at = n.due_at, attempt = n.attempt,
    max_attempts = n.max_attempts, hold = coalesce(n.hold, r.hold)
FROM unnest(
    :id::uuid[], :fence::bigint[], :session::bigint[], :max_attempts::int[], :due_at::bigint[], :attempt::int[],
    :hold::smallint[]
) AS n (id, fence, session, max_attempts, due_at, attempt, hold)
WHERE r.id = ANY (:id::uuid[])
    AND r.id = n.id AND r.fence = n.fence AND r.claimed_by IS NOT DISTINCT FROM n.session
    AND (r.claimed_by IS NOT NULL OR r.hold = 3)
RETURNING r.id::text
