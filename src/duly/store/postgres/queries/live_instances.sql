SELECT session, name, host, pid, roles, version, tz_version, jobs, started_at, expires_at, skew_ms
FROM duly.duly_instances
WHERE expires_at >= :now::bigint
ORDER BY started_at, session
