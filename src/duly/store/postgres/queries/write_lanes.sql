UPDATE duly.duly_lanes AS l
SET max_running = n.max_running, tickets = n.tickets
FROM unnest(:id::uuid[], :max_running::int[], :tickets::bigint[]) AS n (id, max_running, tickets)
WHERE l.id = n.id
