SELECT min(paused_until)
FROM duly.duly_schedules
WHERE paused_until > :now::bigint AND paused_at IS NOT NULL AND deleted_at IS NULL
