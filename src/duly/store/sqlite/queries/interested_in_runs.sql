-- Differs from postgres: open and ended runs are two arms, since there is no view of both.
WITH told (name, run_id, attempt, error) AS (VALUES (:name, :run_id, :attempt, :error)),
seen (name, tenant, owner, schedule_id, key, run_id, job, attempt, reason, error, tags) AS (
    SELECT
        told.name, r.tenant, coalesce(o.owner, s.owner), r.schedule_id, s.key, r.id, r.job,
        coalesce(told.attempt, r.attempt), NULL, told.error, s.tags
    FROM told CROSS JOIN duly_runs AS r ON r.id = told.run_id
    LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
    LEFT JOIN duly_owners AS o ON o.run_id = r.id
    UNION ALL
    SELECT
        told.name, h.tenant, coalesce(o.owner, s.owner), h.schedule_id, s.key, h.id, h.job,
        coalesce(told.attempt, h.attempt), h.reason, coalesce(told.error, h.error), s.tags
    FROM told CROSS JOIN duly_history AS h ON h.id = told.run_id
    LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
    LEFT JOIN duly_owners AS o ON o.run_id = h.id
)
SELECT
    seen.name, seen.tenant, seen.owner, seen.schedule_id, seen.key, seen.run_id, seen.job, seen.attempt, seen.reason,
    seen.error, w.id, w.kind, w.tenant, w.owner
FROM seen
CROSS JOIN duly_interests AS i ON i.event = seen.name AND i.subject IN (
    '*', 't:' || seen.tenant, 'o:' || seen.tenant || char(10) || seen.owner, 's:' || seen.schedule_id)
CROSS JOIN duly_webhooks AS w ON w.id = i.webhook_id
WHERE seen.job <> :job AND (w.job IS NULL OR w.job = seen.job)
  AND (w.tenant IS NULL OR w.tenant = seen.tenant) AND (w.owner IS NULL OR w.owner = seen.owner)
  AND (w.tag IS NULL OR w.tag IN (SELECT value FROM json_each(seen.tags)))
  AND (seen.name <> 'schedule.missed' OR seen.reason IN ('missed', 'too_late'))
