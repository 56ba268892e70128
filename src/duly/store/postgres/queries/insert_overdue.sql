INSERT INTO duly.duly_overdue (schedule_id, since)
SELECT c.schedule_id, c.fire_at FROM duly.duly_cursors AS c
WHERE c.fire_at < :before::bigint
  AND NOT EXISTS (SELECT FROM duly.duly_meta WHERE firing_paused_at IS NOT NULL)
ORDER BY c.fire_at
LIMIT :limit::bigint
ON CONFLICT DO NOTHING
RETURNING schedule_id::text
