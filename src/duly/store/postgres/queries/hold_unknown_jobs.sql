-- Runs that nobody can take gather at the head of their line, so the first of each line are enough to look at.
WITH live AS (
    SELECT roles::jsonb AS roles, jobs::jsonb AS jobs FROM duly.duly_instances WHERE expires_at >= :now::bigint
), unknown AS MATERIALIZED (
    SELECT head.id
    FROM duly.duly_lines AS l
    CROSS JOIN LATERAL (
        SELECT r.id, r.job
        FROM duly.duly_runs AS r
        WHERE r.claimed_by IS NULL AND r.hold = 0
          AND r.queue = l.queue AND r.priority = l.priority AND r.due_at <= :now::bigint
        ORDER BY r.due_at, r.slot
        LIMIT 10000
    ) AS head
    WHERE EXISTS (SELECT FROM live WHERE roles ? 'worker'::text)
      AND NOT EXISTS (
        SELECT FROM live WHERE jobs ? head.job OR (head.job LIKE 'topic:%' AND jobs ? 'topic:*'::text)
    )
)
UPDATE duly.duly_runs AS r SET hold = 2
WHERE r.id = ANY (ARRAY(SELECT id FROM unknown)) AND r.claimed_by IS NULL AND r.hold + 0 = 0  -- which fits no other index
