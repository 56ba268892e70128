-- Each count stops at the limit: a backlog of millions costs no more than that. The order names the index to walk.
SELECT
    (SELECT count(*) FROM (SELECT FROM duly.duly_cursors WHERE fire_at <= :now::bigint LIMIT :limit::bigint) AS due),
    (SELECT count(*) FROM (
        SELECT FROM duly.duly_lines AS l
        CROSS JOIN LATERAL (
            SELECT FROM duly.duly_runs AS r
            WHERE r.claimed_by IS NULL AND r.hold = 0
              AND r.queue = l.queue AND r.priority = l.priority AND r.due_at <= :now::bigint
            ORDER BY r.due_at
            LIMIT :limit::bigint
        ) AS line
        LIMIT :limit::bigint
    ) AS ready),
    (SELECT count(*) FROM (
        SELECT FROM duly.duly_runs WHERE claimed_by IS NOT NULL ORDER BY claimed_by LIMIT :limit::bigint
    ) AS running),
    (SELECT count(*) FROM (
        SELECT FROM duly.duly_runs WHERE hold = 1 AND schedule_id IS NOT NULL ORDER BY schedule_id LIMIT :limit::bigint
    ) AS laned),
    (SELECT count(*) FROM (SELECT FROM duly.duly_runs WHERE hold = 2 ORDER BY job LIMIT :limit::bigint) AS unknown)
