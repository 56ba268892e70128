-- What is there stays as it is. Until it is written, a new one has run out: it holds nobody up if the run is refused.
INSERT INTO duly_uniques (tenant, key, run_id, expires_at)
VALUES (:tenant, :key, :run_id, 0)
ON CONFLICT (tenant, key) DO UPDATE SET tenant = excluded.tenant
RETURNING tenant, key, run_id, expires_at
