SELECT count(*)
FROM duly.duly_schedules
WHERE tenant = :tenant::text AND calendars IS NOT NULL AND ended_at IS NULL AND calendars::jsonb ? :name::text
