-- One that somebody has asked for since we looked stays: its row is another by then.
DELETE FROM duly.duly_uniques AS u
USING (
    SELECT i.tenant, i.owner, i.key, i.ctid AS seen FROM duly.duly_uniques AS i
    WHERE i.expires_at <= :now::bigint AND NOT EXISTS (SELECT FROM duly.duly_runs AS r WHERE r.id = i.run_id)
    LIMIT :limit::bigint
    FOR UPDATE OF i SKIP LOCKED
) AS old
WHERE u.tenant = old.tenant AND u.owner = old.owner AND u.key = old.key AND u.ctid = old.seen
RETURNING u.key
