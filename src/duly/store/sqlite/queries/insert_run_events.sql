-- Differs from postgres: open and ended runs are two arms, since there is no view of both.
WITH told (name, run_id, attempt, error) AS (VALUES (:name, :run_id, :attempt, :error))
INSERT INTO duly_events (at, name, tenant, owner, schedule_id, key, run_id, job, attempt, reason, error)
SELECT
    :now, told.name, r.tenant, coalesce(o.owner, s.owner), r.schedule_id, s.key, r.id, r.job,
    coalesce(told.attempt, r.attempt), NULL, told.error
FROM told CROSS JOIN duly_runs AS r ON r.id = told.run_id
LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = r.id
UNION ALL
SELECT
    :now, told.name, h.tenant, coalesce(o.owner, s.owner), h.schedule_id, s.key, h.id, h.job,
    coalesce(told.attempt, h.attempt), h.reason, coalesce(told.error, h.error)
FROM told CROSS JOIN duly_history AS h ON h.id = told.run_id
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = h.id
