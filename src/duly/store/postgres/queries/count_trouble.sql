-- Each count stops at the limit.
SELECT
    (SELECT count(*) FROM (
        SELECT FROM duly.duly_cursors WHERE fire_at <= :late_before::bigint LIMIT :limit::bigint
    ) AS late),
    (SELECT count(*) FROM (
        SELECT FROM duly.duly_history WHERE status = 'failed' AND acked_at IS NULL ORDER BY id LIMIT :limit::bigint
    ) AS dead)
