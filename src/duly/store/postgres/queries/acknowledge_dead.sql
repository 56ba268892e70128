UPDATE duly.duly_history AS h
SET acked_at = :now::bigint
FROM unnest(:id::uuid[], :fence::bigint[]) AS n (id, fence)
WHERE h.id = n.id AND h.fence = n.fence AND h.status = 'failed' AND h.acked_at IS NULL
RETURNING h.id::text
