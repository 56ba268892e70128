DELETE FROM duly.duly_gatherings AS g
USING (
    SELECT i.event, i.job, i.tenant, i.owner FROM duly.duly_gatherings AS i
    WHERE i.at <= :before::bigint AND NOT EXISTS (SELECT FROM duly.duly_runs AS r WHERE r.id = i.run_id)
    LIMIT :limit::bigint
    FOR UPDATE SKIP LOCKED
) AS old
WHERE g.event = old.event AND g.job = old.job AND g.tenant = old.tenant AND g.owner = old.owner
  AND g.at <= :before::bigint
RETURNING g.job
