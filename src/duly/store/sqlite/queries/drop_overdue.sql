-- Whether it goes again: what was paused, cancelled or deleted meanwhile has not recovered.
DELETE FROM duly_overdue
WHERE NOT EXISTS (
    SELECT 1 FROM duly_cursors AS c WHERE c.schedule_id = duly_overdue.schedule_id AND c.fire_at < :before
)
RETURNING schedule_id, EXISTS (
    SELECT 1 FROM duly_schedules AS s
    WHERE s.id = duly_overdue.schedule_id AND s.deleted_at IS NULL AND s.paused_at IS NULL
)
