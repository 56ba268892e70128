-- Runs that nobody can take gather at the head of their line, so the first of each line are enough to look at.
UPDATE duly_runs SET hold = 2
WHERE rowid IN (
    SELECT head.rowid
    FROM duly_lines AS l
    CROSS JOIN duly_runs AS head
    WHERE EXISTS (
        SELECT 1 FROM duly_instances AS i, json_each(i.roles) AS role WHERE i.expires_at >= :now AND role.value = 'worker'
    )
      AND head.rowid IN (
        SELECT r.rowid FROM duly_runs AS r
        WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = l.queue AND r.priority = l.priority
          AND r.due_at <= :now
        ORDER BY r.due_at, r.slot
        LIMIT 10000
    )
      AND NOT EXISTS (
        SELECT 1 FROM duly_instances AS i, json_each(i.jobs) AS j
        WHERE i.expires_at >= :now AND (j.value = head.job OR (j.value = 'topic:*' AND head.job GLOB 'topic:*'))
    )
)
