-- One that another run took since we looked stays.
DELETE FROM duly_uniques AS u
USING (
    SELECT i.tenant, i.owner, i.key, i.run_id FROM duly_uniques AS i
    WHERE i.expires_at <= :now::bigint AND NOT EXISTS (SELECT FROM duly_runs AS r WHERE r.id = i.run_id)
    LIMIT :limit::bigint
) AS old
WHERE u.tenant = old.tenant AND u.owner = old.owner AND u.key = old.key AND u.run_id = old.run_id
RETURNING u.key
