SELECT n.id::text
FROM unnest(:id::uuid[], :fence::bigint[], :session::bigint[]) AS n (id, fence, session)
WHERE EXISTS (
    SELECT FROM duly_history AS h WHERE h.id = n.id AND h.fence = n.fence AND h.session = n.session
) OR EXISTS (
    SELECT FROM duly_attempts AS a WHERE a.run_id = n.id AND a.fence = n.fence AND a.session = n.session
)
