SELECT old.id
FROM (
    SELECT id FROM duly_schedules WHERE deleted_at < :ended_before
    UNION ALL
    SELECT id FROM duly_schedules
    WHERE kind = 'once' AND ended_at < :ended_before AND coalesce(deleted_at, :ended_before) >= :ended_before
) AS old
WHERE NOT EXISTS (SELECT 1 FROM duly_runs WHERE schedule_id = old.id)
LIMIT :limit
