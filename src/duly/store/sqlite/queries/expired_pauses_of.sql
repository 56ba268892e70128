-- Which of these have a pause that is over.
SELECT id FROM duly_schedules
WHERE id IN (SELECT value FROM json_each(:ids))
    AND paused_until <= :now AND paused_at IS NOT NULL AND deleted_at IS NULL
