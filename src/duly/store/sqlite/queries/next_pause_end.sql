SELECT min(paused_until) FROM duly_schedules
WHERE paused_until > :now AND paused_at IS NOT NULL AND deleted_at IS NULL
