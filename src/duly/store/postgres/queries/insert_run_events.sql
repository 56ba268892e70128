INSERT INTO duly.duly_events (at, name, tenant, owner, schedule_id, key, run_id, job, attempt, reason, error)
SELECT
    :now::bigint, n.name, r.tenant, coalesce(o.owner, s.owner), r.schedule_id, s.key, r.id, r.job,
    coalesce(n.attempt, r.attempt), r.reason, coalesce(n.error, r.error)
FROM unnest(:name::text[], :run_id::uuid[], :attempt::int[], :error::text[])
    WITH ORDINALITY AS n (name, run_id, attempt, error, place)
JOIN duly.duly_all_runs AS r ON r.id = n.run_id
LEFT JOIN duly.duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly.duly_owners AS o ON o.run_id = r.id
ORDER BY n.place
