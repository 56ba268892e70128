-- What is left of an attempt that its guard no longer finds: the run's end, the attempt's record, or the run given back.
SELECT
    n.id::text,
    CASE WHEN h.id IS NOT NULL THEN 'ended' WHEN a.run_id IS NOT NULL THEN 'tried' ELSE 'returned' END,
    coalesce(h.status, a.outcome), h.reason
FROM unnest(:id::uuid[], :fence::bigint[], :session::bigint[]) AS n (id, fence, session)
LEFT JOIN duly.duly_history AS h ON h.id = n.id AND h.fence = n.fence AND h.session IS NOT DISTINCT FROM n.session
LEFT JOIN duly.duly_attempts AS a ON a.run_id = n.id AND a.fence = n.fence AND a.session IS NOT DISTINCT FROM n.session
LEFT JOIN duly.duly_runs AS r ON r.id = n.id AND r.fence = n.fence AND r.claimed_by IS NULL
WHERE h.id IS NOT NULL OR a.run_id IS NOT NULL OR r.id IS NOT NULL
