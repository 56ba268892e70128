UPDATE duly_events
SET number = :last + new.place
FROM (
    SELECT seq, row_number() OVER (ORDER BY seq) AS place
    FROM (SELECT seq FROM duly_events WHERE number IS NULL ORDER BY seq LIMIT :limit)
) AS new
WHERE duly_events.seq = new.seq
RETURNING number
