-- The walk of duly_lines, which takes the first instant of each line along: asking for it apart costs a third more.
WITH RECURSIVE lines AS (
    (
        SELECT queue, priority, due_at
        FROM duly.duly_runs
        WHERE claimed_by IS NULL AND hold = 0
        ORDER BY queue, priority DESC, due_at
        LIMIT 1
    )
    UNION ALL
    SELECT next.queue, next.priority, next.due_at
    FROM lines
    CROSS JOIN LATERAL (
        (
            SELECT r.queue, r.priority, r.due_at
            FROM duly.duly_runs AS r
            WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = lines.queue AND r.priority < lines.priority
            ORDER BY r.priority DESC, r.due_at
            LIMIT 1
        )
        UNION ALL
        (
            SELECT r.queue, r.priority, r.due_at
            FROM duly.duly_runs AS r
            WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue > lines.queue
            ORDER BY r.queue, r.priority DESC, r.due_at
            LIMIT 1
        )
        LIMIT 1
    ) AS next
)
SELECT l.queue, l.priority, l.lost_before, coalesce(q.governed, false), l.first_due_at
FROM (
    SELECT queue, priority, false AS lost_before, due_at AS first_due_at FROM lines
    UNION ALL
    SELECT queue, priority, true, min(due_at) FROM duly.duly_runs WHERE claimed_by IS NULL AND hold = 5 GROUP BY queue, priority
) AS l
LEFT JOIN duly.duly_queues AS q ON q.name = l.queue
WHERE q.paused_at IS NULL
