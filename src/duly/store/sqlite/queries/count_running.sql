-- What a dead session left behind takes no place: it is about to be settled as lost.
SELECT r.queue, count(*)
FROM duly_instances AS i
CROSS JOIN duly_runs AS r
WHERE r.claimed_by = i.session AND r.queue IN (SELECT value FROM json_each(:names))
GROUP BY r.queue
