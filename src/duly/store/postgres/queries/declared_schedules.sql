SELECT id::text FROM duly.duly_schedules
WHERE app = :app::text AND deleted_at IS NULL
ORDER BY id
