-- Unprepared: the filters that are given decide the plan.
SELECT h.id::text, h.fence
FROM duly.duly_history AS h
WHERE h.status = 'failed' AND h.acked_at IS NULL
  AND h.finished_at <= :died_by::bigint
  AND (:after::uuid IS NULL OR h.id > :after::uuid)
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
ORDER BY h.id
LIMIT :limit::bigint
