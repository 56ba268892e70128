-- Those that have ended or are deleted are among them, as long as they are stored.
SELECT
    s.id::text, s.key, s.tenant, s.created_at, s.paused_at, s.ended_at,
    c.status, c.window_at, c.next_window_at, c.fire_at, c.fired, c.error
FROM duly.duly_schedules AS s
JOIN duly.duly_cursors AS c ON c.schedule_id = s.id
WHERE s.id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000'::uuid) AND s.created_at <= :until::bigint
  AND (:id::uuid IS NULL OR s.id = :id::uuid) AND (:tenant::text IS NULL OR s.tenant = :tenant::text)
ORDER BY s.id
LIMIT :limit::bigint
