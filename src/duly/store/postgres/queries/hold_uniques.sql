-- In the order of keys, so that nobody waits in a circle. What is there stays as it is, but is locked. Until it is
-- written, a new one has run out: it holds nobody up if the run is refused after all.
INSERT INTO duly.duly_uniques (tenant, owner, key, run_id, expires_at)
SELECT n.tenant, n.owner, n.key, n.run_id, 0
FROM unnest(:tenant::text[], :owner::text[], :key::text[], :run_id::uuid[]) AS n (tenant, owner, key, run_id)
ORDER BY n.tenant COLLATE "C", n.owner COLLATE "C", n.key COLLATE "C"
ON CONFLICT (tenant, owner, key) DO UPDATE SET tenant = excluded.tenant
RETURNING tenant, owner, key, run_id::text, expires_at
