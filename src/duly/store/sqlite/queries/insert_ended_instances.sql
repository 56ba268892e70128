INSERT INTO duly_ended_instances (session, name, host, pid, roles, version, jobs, started_at, ended_at, lost)
VALUES (:session, :name, :host, :pid, :roles, :version, :jobs, :started_at, :ended_at, :lost)
ON CONFLICT DO NOTHING
