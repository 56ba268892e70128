UPDATE duly.duly_queues AS q
SET window_at = n.window_at, used = n.used, served = n.served
FROM unnest(:name::text[], :window_at::bigint[], :used::bigint[], :served::text[]) AS n (name, window_at, used, served)
WHERE q.name = n.name
