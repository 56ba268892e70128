SELECT l.queue, l.priority, l.lost_before, coalesce(q.governed, 0), l.first_due_at
FROM (
    SELECT queue, priority, 0 AS lost_before, (
        SELECT min(r.due_at) FROM duly_runs AS r
        WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = lines.queue AND r.priority = lines.priority
    ) AS first_due_at
    FROM duly_lines AS lines
    UNION ALL
    SELECT queue, priority, 1, min(due_at) FROM duly_runs WHERE claimed_by IS NULL AND hold = 5 GROUP BY queue, priority
) AS l
LEFT JOIN duly_queues AS q ON q.name = l.queue
WHERE q.paused_at IS NULL
