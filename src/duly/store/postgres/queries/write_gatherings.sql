UPDATE duly.duly_gatherings AS g
SET run_id = n.run_id, n = n.n
FROM unnest(:job::text[], :run_id::uuid[], :n::int[]) AS n (job, run_id, n)
WHERE g.event = :event::text AND g.job = n.job AND g.tenant = :tenant::text AND g.owner = :owner::text
