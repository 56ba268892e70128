-- Whether it goes again: what was paused, cancelled or deleted meanwhile has not recovered.
DELETE FROM duly.duly_overdue AS o
WHERE NOT EXISTS (
    SELECT FROM duly.duly_cursors AS c WHERE c.schedule_id = o.schedule_id AND c.fire_at < :before::bigint
)
RETURNING o.schedule_id::text, EXISTS (
    SELECT FROM duly.duly_schedules AS s
    WHERE s.id = o.schedule_id AND s.deleted_at IS NULL AND s.paused_at IS NULL
)
