SELECT
    n.name, s.tenant, s.owner, s.id::text, s.key, NULL, s.job, NULL, s.pause_reason, NULL, w.id::text, w.kind, w.tenant,
    w.owner
FROM unnest(:name::text[], :schedule_id::uuid[]) AS n (name, schedule_id)
JOIN duly.duly_schedules AS s ON s.id = n.schedule_id
JOIN duly.duly_interests AS i ON i.event = n.name AND i.subject = ANY (ARRAY[
    '*', 't:' || s.tenant, 'o:' || s.tenant || chr(10) || s.owner, 's:' || s.id::text
])
JOIN duly.duly_webhooks AS w ON w.id = i.webhook_id
WHERE (w.job IS NULL OR w.job = s.job)
  AND (w.tenant IS NULL OR w.tenant = s.tenant) AND (w.owner IS NULL OR w.owner = s.owner)
  AND (w.tag IS NULL OR s.tags::jsonb ? w.tag)
