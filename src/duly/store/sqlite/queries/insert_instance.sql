INSERT INTO duly_instances (session, name, host, pid, roles, version, tz_version, jobs, started_at, expires_at)
VALUES (:session, :name, :host, :pid, :roles, :version, :tz_version, :jobs, :started_at, :expires_at)
ON CONFLICT (session) DO NOTHING
