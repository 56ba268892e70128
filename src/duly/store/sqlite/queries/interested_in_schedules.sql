WITH told (name, schedule_id) AS (VALUES (:name, :schedule_id))
SELECT
    told.name, s.tenant, s.owner, s.id, s.key, NULL, s.job, NULL, s.pause_reason, NULL, w.id, w.kind, w.tenant, w.owner
FROM told
CROSS JOIN duly_schedules AS s ON s.id = told.schedule_id
CROSS JOIN duly_interests AS i ON i.event = told.name AND i.subject IN (
    '*', 't:' || s.tenant, 'o:' || s.tenant || char(10) || s.owner, 's:' || s.id)
CROSS JOIN duly_webhooks AS w ON w.id = i.webhook_id
WHERE (w.job IS NULL OR w.job = s.job)
  AND (w.tenant IS NULL OR w.tenant = s.tenant) AND (w.owner IS NULL OR w.owner = s.owner)
  AND (w.tag IS NULL OR w.tag IN (SELECT value FROM json_each(s.tags)))
