SELECT l.queue, l.priority, l.lost_before, coalesce(q.governed, 0)
FROM (
    SELECT queue, priority, 0 AS lost_before FROM duly_lines
    UNION ALL
    SELECT DISTINCT queue, priority, 1 FROM duly_runs WHERE claimed_by IS NULL AND hold = 5
) AS l
LEFT JOIN duly_queues AS q ON q.name = l.queue
WHERE q.paused_at IS NULL
