-- An id starts with the instant of its window, and no run ends before its window: younger ids need no look.
-- An id that a caller chose may be any UUID; those are few, and have an index of their own.
DELETE FROM duly_history
WHERE id = ANY (ARRAY(
    (
        SELECT id
        FROM duly_history
        WHERE id < rpad(lpad(to_hex(:finished_before::bigint), 12, '0'), 32, '0')::uuid
          AND finished_at < :finished_before::bigint
          AND status = ANY (:statuses::text[])
        ORDER BY id
        LIMIT :limit::bigint
    )
    UNION
    (
        SELECT id
        FROM duly_history
        WHERE kind IN ('direct', 'manual') AND substr(id::text, 15, 1) <> '7'
          AND finished_at < :finished_before::bigint
          AND status = ANY (:statuses::text[])
        ORDER BY finished_at
        LIMIT :limit::bigint
    )
    ORDER BY id
    LIMIT :limit::bigint
))
RETURNING id::text
