-- An id starts with the instant of its run, in hex. Of a minute no more than the limit are counted.
-- Answers of each minute: those ended or skipped, those open, and those of the ended that are dead letters.
WITH RECURSIVE
minutes (at) AS (
    SELECT :since
    UNION ALL
    SELECT at + 60000 FROM minutes WHERE at + 60000 < :until
),
spans (at, first, next) AS (
    SELECT at, printf('%08x-%04x', at >> 16, at & 65535), printf('%08x-%04x', (at + 60000) >> 16, (at + 60000) & 65535)
    FROM minutes
)
SELECT
    at,
    (SELECT count(*) FROM (SELECT 1 FROM duly_history AS h WHERE h.id >= first AND h.id < next LIMIT :limit)),
    (SELECT count(*) FROM (SELECT 1 FROM duly_runs AS r WHERE r.id >= first AND r.id < next LIMIT :limit)),
    (SELECT count(*) FROM (SELECT 1 FROM duly_history AS h INDEXED BY duly_history_dead
        WHERE h.status = 'failed' AND h.acked_at IS NULL AND h.id >= first AND h.id < next LIMIT :limit))
FROM spans
ORDER BY at
