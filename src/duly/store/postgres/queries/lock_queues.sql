-- In the order of names, so that nobody waits in a circle.
SELECT
    name, max_running, rate, per_ms, window_at, used, fair, newest_first, served, paused_at, paused_by, pause_reason,
    updated_at
FROM duly.duly_queues
WHERE name = ANY (:names::text[])
ORDER BY name
FOR UPDATE
