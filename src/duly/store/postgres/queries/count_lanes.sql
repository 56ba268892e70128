-- Three ranges of one index: however long the line is, no more of it is read than is worth counting.
SELECT
    n.id::text,
    (
        SELECT count(*) FROM duly.duly_runs AS r WHERE r.lane = n.id AND r.schedule_id IS NULL AND r.hold < 1
    ) + (
        SELECT count(*) FROM duly.duly_runs AS r WHERE r.lane = n.id AND r.schedule_id IS NULL AND r.hold > 1
    ),
    (
        SELECT count(*)
        FROM (
            SELECT FROM duly.duly_runs AS r
            WHERE r.lane = n.id AND r.schedule_id IS NULL AND r.hold = 1
            LIMIT n.most
        ) AS waiting
    )
FROM unnest(:id::uuid[], :most::bigint[]) AS n (id, most)
