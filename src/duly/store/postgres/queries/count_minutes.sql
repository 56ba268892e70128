-- An id starts with the instant of its run, in hex. Of a minute no more than the limit are counted.
-- Answers of each minute: those ended or skipped, those open, and those of the ended that are dead letters.
WITH spans AS (
    SELECT
        at,
        rpad(lpad(to_hex(at), 12, '0'), 32, '0')::uuid AS first,
        rpad(lpad(to_hex(at + 60000), 12, '0'), 32, '0')::uuid AS next
    FROM generate_series(:since::bigint, :until::bigint - 1, 60000) AS at
)
SELECT
    at,
    (SELECT count(*) FROM (
        SELECT FROM duly.duly_history AS h WHERE h.id >= first AND h.id < next LIMIT :limit::bigint
    ) AS ended),
    (SELECT count(*) FROM (SELECT FROM duly.duly_runs AS r WHERE r.id >= first AND r.id < next LIMIT :limit::bigint) AS open),
    (SELECT count(*) FROM (
        SELECT FROM duly.duly_history AS h
        WHERE h.status = 'failed' AND h.acked_at IS NULL AND h.id >= first AND h.id < next LIMIT :limit::bigint
    ) AS dead)
FROM spans
ORDER BY at
