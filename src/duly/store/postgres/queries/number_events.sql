UPDATE duly.duly_events AS e
SET number = :last::bigint + new.place
FROM (
    SELECT seq, row_number() OVER (ORDER BY seq) AS place
    FROM (SELECT seq FROM duly.duly_events WHERE number IS NULL ORDER BY seq LIMIT :limit::bigint) AS first
) AS new
WHERE e.seq = new.seq
RETURNING e.number
