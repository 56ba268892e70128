WITH told (name, schedule_id) AS (VALUES (:name, :schedule_id))
INSERT INTO duly_events (at, name, tenant, owner, schedule_id, key, job, reason)
SELECT :now, told.name, s.tenant, s.owner, s.id, s.key, s.job, s.pause_reason
FROM told CROSS JOIN duly_schedules AS s ON s.id = told.schedule_id
