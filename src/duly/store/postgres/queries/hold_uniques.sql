-- In the order of keys, so that nobody waits in a circle. What is there stays as it is, but is locked. Until it is
-- written, a new one has run out: it holds nobody up if the run is refused after all.
INSERT INTO duly_uniques (tenant, key, run_id, expires_at)
SELECT n.tenant, n.key, n.run_id, 0
FROM unnest(:tenant::text[], :key::text[], :run_id::uuid[]) AS n (tenant, key, run_id)
ORDER BY n.tenant COLLATE "C", n.key COLLATE "C"
ON CONFLICT (tenant, key) DO UPDATE SET tenant = excluded.tenant
RETURNING tenant, key, run_id::text, expires_at
