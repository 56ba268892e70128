SELECT schedule_id::text FROM duly.duly_cursors
WHERE fire_at < :before::bigint
  AND NOT EXISTS (SELECT FROM duly.duly_meta WHERE firing_paused_at IS NOT NULL)
ORDER BY fire_at
LIMIT :limit::bigint
