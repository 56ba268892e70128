SELECT l.queue, l.priority, l.lost_before, coalesce(q.governed, false), l.first_due_at
FROM (
    SELECT queue, priority, false AS lost_before, (
        SELECT r.due_at
        FROM duly_runs AS r
        WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = lines.queue AND r.priority = lines.priority
        ORDER BY r.due_at
        LIMIT 1
    ) AS first_due_at
    FROM duly_lines AS lines
    UNION ALL
    SELECT queue, priority, true, min(due_at)
    FROM duly_runs
    WHERE claimed_by IS NULL AND hold = 5
    GROUP BY queue, priority
) AS l
LEFT JOIN duly_queues AS q ON q.name = l.queue
WHERE q.paused_at IS NULL
