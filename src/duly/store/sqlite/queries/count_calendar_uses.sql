SELECT count(*)
FROM duly_schedules
WHERE tenant = :tenant AND calendars IS NOT NULL AND ended_at IS NULL
    AND EXISTS (SELECT 1 FROM json_each(calendars) WHERE value = :name)
