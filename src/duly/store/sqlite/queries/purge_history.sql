-- An id starts with the instant of its window, in hex, and no run ends before that: older ids are the only candidates.
-- An id that a caller chose may be any UUID; those are few, and have indexes of their own: one is of another version
-- than ours, or is undated.
DELETE FROM duly_history
WHERE id IN (
    SELECT id FROM (
        SELECT id FROM duly_history
        WHERE id < printf('%08x-%04x', :finished_before >> 16, :finished_before & 65535)
          AND finished_at < :finished_before
          AND status IN (SELECT value FROM json_each(:statuses))
        ORDER BY id
        LIMIT :limit
    )
    UNION
    SELECT id FROM (
        SELECT id FROM duly_history
        WHERE kind IN ('direct', 'manual') AND substr(id, 15, 1) <> '7' AND finished_at < :finished_before
          AND status IN (SELECT value FROM json_each(:statuses))
        ORDER BY finished_at
        LIMIT :limit
    )
    UNION
    SELECT id FROM (
        SELECT id FROM duly_history
        WHERE (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
                AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)))
          AND coalesce(window_at, fired_at) < :finished_before AND finished_at < :finished_before
          AND status IN (SELECT value FROM json_each(:statuses))
        ORDER BY coalesce(window_at, fired_at)
        LIMIT :limit
    )
    ORDER BY id
    LIMIT :limit
)
RETURNING id
