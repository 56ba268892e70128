-- Unprepared: the filters that are given decide the plan. No more entries of the index than the limit are looked at.
SELECT (greatest(fire_at, :since::bigint) - :since::bigint) / :step::bigint, count(*)
FROM (
    SELECT fire_at FROM duly.duly_cursors AS c
    WHERE fire_at < :until::bigint
      AND (:tenant::text IS NULL OR c.tenant = :tenant::text)
      AND (:owner::text IS NULL OR (SELECT s.owner FROM duly.duly_schedules AS s WHERE s.id = c.schedule_id) = :owner::text)
    ORDER BY fire_at LIMIT :limit::bigint
) AS ahead
GROUP BY 1
ORDER BY 1
