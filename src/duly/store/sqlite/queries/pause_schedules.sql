-- What rules.bulk.pause decides, for many at once. The first statement answers nothing, the second who was paused.
UPDATE duly_cursors SET fire_at = NULL
WHERE schedule_id IN (SELECT value FROM json_each(:ids)) AND fire_at IS NOT NULL;

UPDATE duly_schedules SET
    paused_at = :now, paused_until = :until, paused_by = :by, pause_reason = :reason, updated_at = :now
WHERE id IN (SELECT value FROM json_each(:ids)) AND paused_at IS NULL AND deleted_at IS NULL
    AND (SELECT status FROM duly_cursors WHERE schedule_id = id) IN ('pending', 'active')
RETURNING id, revision
