-- The keys of a line from one key on, and whether each has a run that is due: one probe of the index each.
WITH RECURSIVE keys AS (
    (
        SELECT fair_key, due_at
        FROM duly.duly_runs
        WHERE claimed_by IS NULL AND hold = 0 AND fair_key IS NOT NULL
          AND queue = :queue::text AND priority = :priority::int AND fair_key >= :least::text
        ORDER BY fair_key, due_at
        LIMIT 1
    )
    UNION ALL
    SELECT next.fair_key, next.due_at
    FROM keys
    CROSS JOIN LATERAL (
        SELECT r.fair_key, r.due_at
        FROM duly.duly_runs AS r
        WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.fair_key IS NOT NULL
          AND r.queue = :queue::text AND r.priority = :priority::int AND r.fair_key > keys.fair_key
        ORDER BY r.fair_key, r.due_at
        LIMIT 1
    ) AS next
)
SELECT fair_key, due_at <= :now::bigint FROM keys LIMIT :limit::bigint
