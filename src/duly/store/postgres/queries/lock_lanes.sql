-- In the order of ids, so that nobody waits in a circle.
SELECT id::text, max_running, tickets
FROM duly.duly_lanes
WHERE id = ANY (:ids::uuid[])
ORDER BY id
FOR UPDATE
