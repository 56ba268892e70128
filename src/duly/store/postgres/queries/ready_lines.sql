SELECT l.queue, l.priority, l.lost_before, coalesce(q.governed, false)
FROM (
    SELECT queue, priority, false AS lost_before FROM duly_lines
    UNION ALL
    SELECT DISTINCT queue, priority, true FROM duly_runs WHERE claimed_by IS NULL AND hold = 5
) AS l
LEFT JOIN duly_queues AS q ON q.name = l.queue
WHERE q.paused_at IS NULL
