-- What a dead session left behind takes no place: it is about to be settled as lost.
SELECT r.queue, count(*)
FROM duly.duly_instances AS i
JOIN duly.duly_runs AS r ON r.claimed_by = i.session
WHERE r.queue = ANY (:names::text[])
GROUP BY r.queue
