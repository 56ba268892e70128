-- No more entries of the index than the limit are looked at, the earliest.
SELECT (max(fire_at, :since) - :since) / :step, count(*)
FROM (
    SELECT fire_at FROM duly_cursors AS c
    WHERE fire_at < :until
      AND (:tenant IS NULL OR c.tenant = :tenant)
      AND (:owner IS NULL OR (SELECT s.owner FROM duly_schedules AS s WHERE s.id = c.schedule_id) = :owner)
    ORDER BY fire_at LIMIT :limit
) AS ahead
GROUP BY 1
ORDER BY 1
