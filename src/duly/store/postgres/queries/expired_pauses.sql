SELECT id::text
FROM duly.duly_schedules
WHERE paused_until <= :now::bigint AND paused_at IS NOT NULL AND deleted_at IS NULL
ORDER BY paused_until, id
LIMIT :limit::bigint
