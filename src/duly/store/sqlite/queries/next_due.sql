SELECT min((
    SELECT min(r.due_at) FROM duly_runs AS r
    WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = l.queue AND r.priority = l.priority AND r.due_at > :now
))
FROM duly_lines AS l
