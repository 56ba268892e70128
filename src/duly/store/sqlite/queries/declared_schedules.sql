SELECT id FROM duly_schedules
WHERE app = :app AND deleted_at IS NULL
ORDER BY id
