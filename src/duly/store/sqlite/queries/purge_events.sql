-- Numbers grow with time, so what is too old comes first. A row that nobody gave a number was written for nobody.
DELETE FROM duly_events
WHERE seq IN (
    SELECT seq FROM (
        SELECT * FROM (SELECT seq, number, at FROM duly_events WHERE number IS NOT NULL ORDER BY number LIMIT :limit)
        UNION ALL
        SELECT * FROM (SELECT seq, number, at FROM duly_events WHERE number IS NULL ORDER BY seq LIMIT :limit)
    )
    WHERE number <= :below OR at < :before
    LIMIT :limit
)
RETURNING number
