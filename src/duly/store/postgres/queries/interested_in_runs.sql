SELECT
    n.name, r.tenant, coalesce(o.owner, s.owner), r.schedule_id::text, s.key, r.id::text, r.job,
    coalesce(n.attempt, r.attempt), r.reason, coalesce(n.error, r.error), w.id::text, w.kind, w.tenant, w.owner
FROM unnest(:name::text[], :run_id::uuid[], :attempt::int[], :error::text[]) AS n (name, run_id, attempt, error)
JOIN duly.duly_all_runs AS r ON r.id = n.run_id
LEFT JOIN duly.duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly.duly_owners AS o ON o.run_id = r.id
JOIN duly.duly_interests AS i ON i.event = n.name AND i.subject = ANY (ARRAY[
    '*', 't:' || r.tenant, 'o:' || r.tenant || chr(10) || coalesce(o.owner, s.owner), 's:' || r.schedule_id::text
])
JOIN duly.duly_webhooks AS w ON w.id = i.webhook_id
WHERE r.job <> :job::text AND (w.job IS NULL OR w.job = r.job)
  AND (w.tenant IS NULL OR w.tenant = r.tenant) AND (w.owner IS NULL OR w.owner = coalesce(o.owner, s.owner))
  AND (w.tag IS NULL OR s.tags::jsonb ? w.tag)
  AND (n.name <> 'schedule.missed' OR r.reason IN ('missed', 'too_late'))
