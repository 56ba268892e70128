-- Differs from postgres: no row locks, a write transaction is alone.
SELECT
    name, max_running, rate, per_ms, window_at, used, fair, newest_first, served, paused_at, paused_by, pause_reason,
    updated_at
FROM duly_queues
WHERE name IN (SELECT value FROM json_each(:names))
ORDER BY name
