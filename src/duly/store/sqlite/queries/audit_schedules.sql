-- Those that have ended or are deleted are among them, as long as they are stored.
SELECT
    s.id, s.key, s.tenant, s.created_at, s.paused_at, s.ended_at,
    c.status, c.window_at, c.next_window_at, c.fire_at, c.fired, c.error
FROM duly_schedules AS s
CROSS JOIN duly_cursors AS c ON c.schedule_id = s.id
WHERE s.id > coalesce(:after, '') AND s.created_at <= :until AND (:id IS NULL OR s.id = :id)
    AND (:tenant IS NULL OR s.tenant = :tenant)
ORDER BY s.id
LIMIT :limit
