-- A session that is claiming right now is left for the next time rather than waited for.
WITH dead AS MATERIALIZED (
    SELECT session FROM duly.duly_instances WHERE expires_at < :now::bigint FOR UPDATE SKIP LOCKED
)
DELETE FROM duly.duly_instances AS i USING dead WHERE i.session = dead.session
RETURNING i.session, i.name, i.host, i.pid, i.roles, i.version, i.jobs, i.started_at
