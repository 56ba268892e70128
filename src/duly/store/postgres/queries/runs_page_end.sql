-- Unprepared: whether there was a page before decides the plan.
-- Where a page that looks at so many open runs and so many ended ones ends; null if there are fewer of both.
SELECT max(last.id::text) FROM (
    (
        SELECT id FROM duly_history
        WHERE :owner::text IS NULL AND (:after::uuid IS NULL OR id < :after::uuid) ORDER BY id DESC LIMIT 1 OFFSET :most::bigint
    )
    UNION ALL
    (
        SELECT id FROM duly_runs
        WHERE :owner::text IS NULL AND (:after::uuid IS NULL OR id < :after::uuid) ORDER BY id DESC LIMIT 1 OFFSET :most::bigint
    )
) AS last
