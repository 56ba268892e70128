-- Differs from postgres: no row locks, a write transaction is alone.
SELECT id, max_running, tickets
FROM duly_lanes
WHERE id IN (SELECT value FROM json_each(:ids))
ORDER BY id
