INSERT INTO duly.duly_instances (session, name, host, pid, roles, version, tz_version, jobs, started_at, expires_at)
VALUES (
    :session::bigint, :name::text, :host::text, :pid::int, :roles::text, :version::text, :tz_version::text,
    :jobs::text, :started_at::bigint, :expires_at::bigint
)
ON CONFLICT (session) DO NOTHING
