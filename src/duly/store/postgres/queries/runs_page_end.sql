-- Unprepared: whether there was a page before decides the plan.
-- Where a page ends that looks at so many open runs and so many ended ones: of the dated ones an id, of the undated ones
-- an instant and an id; null if there are fewer of both. And whether there are undated ones at all.
WITH
there AS (
    SELECT (SELECT r.id FROM duly.duly_listed_runs AS r WHERE r.undated ORDER BY r.at DESC LIMIT 1) IS NOT NULL AS undated
),
dated AS (
    SELECT max(last.id::text) AS id FROM (
        (
            SELECT id FROM duly.duly_history
            WHERE :owner::text IS NULL AND (:narrow::boolean OR (SELECT undated FROM there)) AND id < :after::uuid
            ORDER BY id DESC LIMIT 1 OFFSET :most::bigint
        )
        UNION ALL
        (
            SELECT id FROM duly.duly_runs
            WHERE :owner::text IS NULL AND (:narrow::boolean OR (SELECT undated FROM there)) AND id < :after::uuid
            ORDER BY id DESC LIMIT 1 OFFSET :most::bigint
        )
    ) AS last
),
undated AS (
    SELECT r.at, r.id::text FROM duly.duly_listed_runs AS r
    WHERE :owner::text IS NULL AND :narrow::boolean
      AND r.undated AND (r.at, r.id) < (:at::bigint, :id::uuid)
    ORDER BY r.at DESC, r.id DESC LIMIT 1 OFFSET :most::bigint
)
SELECT dated.id, undated.at, undated.id, there.undated
FROM there CROSS JOIN dated LEFT JOIN undated ON true
