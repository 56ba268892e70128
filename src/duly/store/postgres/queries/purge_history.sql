-- An id starts with the instant of its window, and no run ends before its window: younger ids need no look.
DELETE FROM duly_history
WHERE id = ANY (ARRAY(
    SELECT id
    FROM duly_history
    WHERE id < rpad(lpad(to_hex(:finished_before::bigint), 12, '0'), 32, '0')::uuid
      AND finished_at < :finished_before::bigint
    ORDER BY id
    LIMIT :limit::bigint
))
RETURNING id::text
