-- In the order of jobs, so that nobody waits in a circle. What is there stays as it is, but is locked.
INSERT INTO duly.duly_gatherings (event, job, tenant, owner, run_id, n, at)
SELECT :event::text, n.job, :tenant::text, :owner::text, NULL, 0, :now::bigint
FROM pg_catalog.unnest(:job::text[]) AS n (job)
ORDER BY n.job COLLATE "C"
ON CONFLICT (event, job, tenant, owner) DO UPDATE SET at = excluded.at
RETURNING job, run_id::text, n
