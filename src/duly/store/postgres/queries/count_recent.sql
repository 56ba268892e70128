-- An id starts with the instant of its run, in hex. No more rows than the limit are looked at, the newest first.
-- Answers what there is by status, open runs as 'open', of the last day and of the last hour; and the oldest id seen.
WITH
span AS (
    SELECT
        rpad(lpad(to_hex(:day::bigint), 12, '0'), 32, '0')::uuid AS day,
        rpad(lpad(to_hex(:hour::bigint), 12, '0'), 32, '0')::uuid AS hour,
        rpad(lpad(to_hex(:ahead::bigint), 12, '0'), 32, '0')::uuid AS ahead
),
ended AS (
    SELECT
        h.id, coalesce(h.windows, 1) AS many,
        CASE WHEN h.status = 'skipped' AND h.reason IN ('missed', 'too_late') THEN 'missed' ELSE h.status END AS status
    FROM duly.duly_history AS h
    WHERE h.id >= (SELECT day FROM span) AND h.id < (SELECT ahead FROM span)
    ORDER BY h.id DESC
    LIMIT :limit::bigint
),
begun AS (
    SELECT r.id FROM duly.duly_runs AS r
    WHERE r.id >= (SELECT day FROM span) AND r.id < (SELECT ahead FROM span)
    ORDER BY r.id DESC
    LIMIT :limit::bigint
)
SELECT
    status, sum(many)::bigint, coalesce(sum(many) FILTER (WHERE id >= (SELECT hour FROM span)), 0)::bigint,
    count(*), min(id::text)
FROM ended GROUP BY status
UNION ALL
SELECT 'open', count(*), count(*) FILTER (WHERE id >= (SELECT hour FROM span)), count(*), min(id::text) FROM begun
