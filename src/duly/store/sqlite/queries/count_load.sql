-- Each count stops at the limit: a backlog of millions costs no more than that. The order names the index to walk.
SELECT
    (SELECT count(*) FROM (SELECT 1 FROM duly_cursors WHERE fire_at <= :now LIMIT :limit) AS due),
    (SELECT count(*) FROM (
        SELECT 1 FROM duly_lines AS l
        JOIN duly_runs AS r ON r.queue = l.queue AND r.priority = l.priority
        WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.due_at <= :now
        LIMIT :limit
    ) AS ready),
    (SELECT count(*) FROM (
        SELECT 1 FROM duly_runs WHERE claimed_by IS NOT NULL ORDER BY claimed_by LIMIT :limit
    ) AS running),
    (SELECT count(*) FROM (
        SELECT 1 FROM duly_runs WHERE hold = 1 AND schedule_id IS NOT NULL ORDER BY schedule_id LIMIT :limit
    ) AS laned),
    (SELECT count(*) FROM (SELECT 1 FROM duly_runs WHERE hold = 2 ORDER BY job LIMIT :limit) AS unknown)
