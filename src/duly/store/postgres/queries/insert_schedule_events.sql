INSERT INTO duly.duly_events (at, name, tenant, owner, schedule_id, key, job, reason)
SELECT :now::bigint, n.name, s.tenant, s.owner, s.id, s.key, s.job, s.pause_reason
FROM unnest(:name::text[], :schedule_id::uuid[]) WITH ORDINALITY AS n (name, schedule_id, place)
JOIN duly.duly_schedules AS s ON s.id = n.schedule_id
ORDER BY n.place
