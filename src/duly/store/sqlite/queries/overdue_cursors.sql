SELECT schedule_id FROM duly_cursors
WHERE fire_at < :before AND (SELECT firing_paused_at FROM duly_meta) IS NULL
ORDER BY fire_at
LIMIT :limit
