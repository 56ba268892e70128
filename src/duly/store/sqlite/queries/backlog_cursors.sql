-- Differs from postgres: no row locks, a write transaction is alone.
SELECT
    schedule_id, revision, status, window_at, next_window_at, fire_at, slot, fired, failures, last_fired_at, error,
    tenant
FROM duly_cursors
WHERE fire_at <= :now
ORDER BY fire_at, slot
LIMIT :limit
