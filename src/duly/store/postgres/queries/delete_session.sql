DELETE FROM duly.duly_instances WHERE session = :session::bigint RETURNING session, name, host, pid, roles, version, jobs, started_at
