UPDATE duly_queues AS q
SET window_at = n.window_at, used = n.used
FROM unnest(:name::text[], :window_at::bigint[], :used::bigint[]) AS n (name, window_at, used)
WHERE q.name = n.name
