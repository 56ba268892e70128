-- Unprepared: the filters that are given decide the plan.
-- By what was raised and where, whatever the message; where no line is known, by the text.
SELECT g.job, left(n.error, 200), g.many, g.first_at, g.last_at, g.newest, g.error_type, g.error_location
FROM (
    SELECT
        h.job, CASE WHEN a.error_location IS NOT NULL THEN a.error_type END AS error_type, a.error_location,
        CASE WHEN a.error_location IS NULL THEN left(h.error, 200) END AS words,
        count(*) AS many, min(h.finished_at) AS first_at, max(h.finished_at) AS last_at, max(h.id::text) AS newest
    FROM duly.duly_history AS h
    LEFT JOIN duly.duly_attempts AS a ON a.run_id = h.id AND a.fence = h.fence
    WHERE h.status = 'failed' AND h.acked_at IS NULL
      AND (:schedule_id::uuid IS NULL OR h.schedule_id = :schedule_id::uuid)
      AND (:tenant::text IS NULL OR h.tenant = :tenant::text)
      AND (:job::text IS NULL OR h.job = :job::text)
      AND (:queue::text IS NULL OR h.queue = :queue::text)
      AND (:error::text IS NULL OR position(:error::text IN h.error) > 0)
      AND (:error_type::text IS NULL OR EXISTS (SELECT FROM duly.duly_attempts AS t
        WHERE t.run_id = h.id AND t.fence = h.fence AND t.error_type = :error_type::text))
      AND (:error_location::text IS NULL OR EXISTS (SELECT FROM duly.duly_attempts AS t
        WHERE t.run_id = h.id AND t.fence = h.fence AND t.error_location = :error_location::text))
      AND (:owner::text IS NULL OR
        (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = h.id AND w.tenant = :tenant::text) = :owner::text)
    GROUP BY 1, 2, 3, 4
) AS g
JOIN duly.duly_history AS n ON n.id = g.newest::uuid
ORDER BY g.many DESC, g.newest DESC
LIMIT :limit::bigint
