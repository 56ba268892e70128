INSERT INTO duly_gatherings (event, job, tenant, owner, run_id, n, at)
VALUES (:event, :job, :tenant, :owner, NULL, 0, :now)
ON CONFLICT (event, job, tenant, owner) DO UPDATE SET at = excluded.at
RETURNING job, run_id, n
