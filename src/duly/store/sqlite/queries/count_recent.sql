-- An id starts with the instant of its run, in hex. No more rows than the limit are looked at, the newest first.
-- Answers what there is by status, open runs as 'open', of the last day and of the last hour; and the oldest id seen.
WITH
span (day, hour, ahead) AS (
    SELECT
        printf('%08x-%04x', :day >> 16, :day & 65535), printf('%08x-%04x', :hour >> 16, :hour & 65535),
        printf('%08x-%04x', :ahead >> 16, :ahead & 65535)
),
ended AS MATERIALIZED (
    SELECT
        h.id, coalesce(h.windows, 1) AS many,
        CASE WHEN h.status = 'skipped' AND h.reason IN ('missed', 'too_late') THEN 'missed' ELSE h.status END AS status
    FROM duly_history AS h
    WHERE h.id >= (SELECT day FROM span) AND h.id < (SELECT ahead FROM span)
    ORDER BY h.id DESC
    LIMIT :limit
),
begun AS MATERIALIZED (
    SELECT r.id FROM duly_runs AS r
    WHERE r.id >= (SELECT day FROM span) AND r.id < (SELECT ahead FROM span)
    ORDER BY r.id DESC
    LIMIT :limit
)
SELECT status, sum(many), sum(CASE WHEN id >= (SELECT hour FROM span) THEN many ELSE 0 END), count(*), min(id)
FROM ended GROUP BY status
UNION ALL
SELECT 'open', count(*), coalesce(sum(id >= (SELECT hour FROM span)), 0), count(*), min(id) FROM begun
