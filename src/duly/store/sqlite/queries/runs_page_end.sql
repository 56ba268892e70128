-- Where a page ends that looks at so many open runs and so many ended ones: of the dated ones an id, of the undated ones
-- an instant and an id; null if there are fewer of both. And whether there are undated ones at all.
SELECT
    (
        SELECT max(id) FROM (
            SELECT id FROM (
                SELECT id FROM duly_history WHERE (:narrow OR any.undated) AND :owner IS NULL
                    AND id < :after ORDER BY id DESC LIMIT 1 OFFSET :most
            )
            UNION ALL
            SELECT id FROM (
                SELECT id FROM duly_runs WHERE (:narrow OR any.undated) AND :owner IS NULL
                    AND id < :after ORDER BY id DESC LIMIT 1 OFFSET :most
            )
        )
    ), ends.at, ends.id, any.undated
FROM (
    SELECT EXISTS (SELECT 1 FROM duly_undated_ended) OR EXISTS (SELECT 1 FROM duly_undated_open) AS undated
) AS any
LEFT JOIN (
    SELECT at, id FROM (
        SELECT at, id FROM (
            SELECT at, id FROM duly_undated_ended
            WHERE :narrow AND :owner IS NULL AND at <= :at AND (at < :at OR id < :id)
            ORDER BY at DESC, id DESC LIMIT 1 OFFSET :most
        )
        UNION ALL
        SELECT at, id FROM (
            SELECT at, id FROM duly_undated_open
            WHERE :narrow AND :owner IS NULL AND at <= :at AND (at < :at OR id < :id)
            ORDER BY at DESC, id DESC LIMIT 1 OFFSET :most
        )
    ) ORDER BY at DESC, id DESC LIMIT 1
) AS ends
