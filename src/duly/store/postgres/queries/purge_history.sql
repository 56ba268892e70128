-- An id starts with the instant of its window, and no run ends before its window: younger ids need no look.
-- An id that a caller chose may be any UUID; those are few, and have indexes of their own: one is of another version
-- than ours, or is undated.
DELETE FROM duly.duly_history
WHERE id = ANY (ARRAY(
    (
        SELECT id
        FROM duly.duly_history
        WHERE id < rpad(lpad(to_hex(:finished_before::bigint), 12, '0'), 32, '0')::uuid
          AND finished_at < :finished_before::bigint
          AND status = ANY (:statuses::text[])
        ORDER BY id
        LIMIT :limit::bigint
    )
    UNION
    (
        SELECT id
        FROM duly.duly_history
        WHERE kind IN ('direct', 'manual') AND substr(id::text, 15, 1) <> '7'
          AND finished_at < :finished_before::bigint
          AND status = ANY (:statuses::text[])
        ORDER BY finished_at
        LIMIT :limit::bigint
    )
    UNION
    (
        SELECT id
        FROM duly.duly_history
        WHERE (id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
            AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')))
          AND coalesce(window_at, fired_at) < :finished_before::bigint AND finished_at < :finished_before::bigint
          AND status = ANY (:statuses::text[])
        ORDER BY coalesce(window_at, fired_at)
        LIMIT :limit::bigint
    )
    ORDER BY id
    LIMIT :limit::bigint
))
RETURNING id::text
