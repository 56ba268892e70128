DELETE FROM duly_instances
WHERE expires_at < :now
RETURNING session, name, host, pid, roles, version, jobs, started_at
