INSERT INTO duly_overdue (schedule_id, since)
SELECT schedule_id, fire_at FROM duly_cursors
WHERE fire_at < :before AND (SELECT firing_paused_at FROM duly_meta) IS NULL
ORDER BY fire_at
LIMIT :limit
ON CONFLICT DO NOTHING
RETURNING schedule_id
