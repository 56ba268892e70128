-- Each count stops at the limit.
SELECT
    (SELECT count(*) FROM (SELECT 1 FROM duly_cursors WHERE fire_at <= :late_before LIMIT :limit) AS late),
    (SELECT count(*) FROM (
        SELECT 1 FROM duly_history INDEXED BY duly_history_dead
        WHERE status = 'failed' AND acked_at IS NULL AND id > ''
        LIMIT :limit
    ) AS dead)
