-- By what was raised and where, whatever the message; where no line is known, by the text.
SELECT g.job, substr(n.error, 1, 200), g.many, g.first_at, g.last_at, g.newest, g.error_type, g.error_location
FROM (
    SELECT
        h.job, CASE WHEN a.error_location IS NOT NULL THEN a.error_type END AS error_type, a.error_location,
        CASE WHEN a.error_location IS NULL THEN substr(h.error, 1, 200) END AS words,
        count(*) AS many, min(h.finished_at) AS first_at, max(h.finished_at) AS last_at, max(h.id) AS newest
    FROM duly_history AS h INDEXED BY duly_history_dead
    LEFT JOIN duly_attempts AS a ON a.run_id = h.id AND a.fence = h.fence
    WHERE h.status = 'failed' AND h.acked_at IS NULL AND h.id > ''
      AND (:schedule_id IS NULL OR h.schedule_id = :schedule_id)
      AND (:tenant IS NULL OR h.tenant = :tenant)
      AND (:job IS NULL OR h.job = :job)
      AND (:queue IS NULL OR h.queue = :queue)
      AND (:error IS NULL OR instr(h.error, :error) > 0)
      AND (:error_type IS NULL OR EXISTS (SELECT 1 FROM duly_attempts AS t
        WHERE t.run_id = h.id AND t.fence = h.fence AND t.error_type = :error_type))
      AND (:error_location IS NULL OR EXISTS (SELECT 1 FROM duly_attempts AS t
        WHERE t.run_id = h.id AND t.fence = h.fence AND t.error_location = :error_location))
      AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = h.id AND w.tenant = :tenant) = :owner)
    GROUP BY 1, 2, 3, 4
) AS g
JOIN duly_history AS n ON n.id = g.newest
ORDER BY g.many DESC, g.newest DESC
LIMIT :limit
