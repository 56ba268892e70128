-- What is there stays as it is. Until it is written, a new one has run out: it holds nobody up if the run is refused.
INSERT INTO duly_uniques (tenant, owner, key, run_id, expires_at)
VALUES (:tenant, :owner, :key, :run_id, 0)
ON CONFLICT (tenant, owner, key) DO UPDATE SET tenant = excluded.tenant
RETURNING tenant, owner, key, run_id, expires_at
