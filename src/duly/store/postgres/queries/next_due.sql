SELECT min(first.due_at)
FROM duly.duly_lines AS l
CROSS JOIN LATERAL (
    SELECT r.due_at
    FROM duly.duly_runs AS r
    WHERE r.claimed_by IS NULL AND r.hold = 0
      AND r.queue = l.queue AND r.priority = l.priority AND r.due_at > :now::bigint
    ORDER BY r.due_at
    LIMIT 1
) AS first
