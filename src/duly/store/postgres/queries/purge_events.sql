-- Numbers grow with time, so what is too old comes first. A row that nobody gave a number was written for nobody.
DELETE FROM duly.duly_events
WHERE seq = ANY (ARRAY(
    SELECT seq
    FROM (
        (
            SELECT seq, number, at
            FROM duly.duly_events
            WHERE number IS NOT NULL
            ORDER BY number
            LIMIT :limit::bigint
        )
        UNION ALL
        (SELECT seq, number, at FROM duly.duly_events WHERE number IS NULL ORDER BY seq LIMIT :limit::bigint)
    ) AS oldest
    WHERE number <= :below::bigint OR at < :before::bigint
    LIMIT :limit::bigint
))
RETURNING number
