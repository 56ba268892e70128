-- In the order of ids, so that nobody waits in a circle. What is there stays as it is, but is locked.
INSERT INTO duly.duly_lanes (id, tenant, owner, key, max_running, tickets, used_at)
SELECT n.id, n.tenant, n.owner, n.key, n.max_running, 0, :now::bigint
FROM unnest(:id::uuid[], :tenant::text[], :owner::text[], :key::text[], :max_running::int[])
    AS n (id, tenant, owner, key, max_running)
ORDER BY n.id
ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at
RETURNING id::text, max_running, tickets
