DELETE FROM duly_instances
WHERE session = :session
RETURNING session, name, host, pid, roles, version, jobs, started_at
