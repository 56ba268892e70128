SELECT
    schedule_id::text, revision, status, window_at, next_window_at, fire_at, slot, fired, failures, last_fired_at, error,
    tenant
FROM duly.duly_cursors
WHERE fire_at <= :now::bigint
  AND NOT EXISTS (SELECT FROM duly.duly_meta WHERE firing_paused_at IS NOT NULL)
ORDER BY fire_at, slot
LIMIT :limit::bigint
FOR UPDATE SKIP LOCKED
