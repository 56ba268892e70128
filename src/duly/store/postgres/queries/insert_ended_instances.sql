INSERT INTO duly.duly_ended_instances (session, name, host, pid, roles, version, jobs, started_at, ended_at, lost)
SELECT *
FROM unnest(
    :session::bigint[], :name::text[], :host::text[], :pid::int[], :roles::text[], :version::text[], :jobs::text[],
    :started_at::bigint[], :ended_at::bigint[], :lost::boolean[]
)
ON CONFLICT DO NOTHING
