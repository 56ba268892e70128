-- Unprepared: the filters that are given decide the plan.
SELECT h.job, left(h.error, 200), count(*), min(h.finished_at), max(h.finished_at), max(h.id::text)
FROM duly.duly_history AS h
WHERE h.status = 'failed' AND h.acked_at IS NULL
  AND (:schedule_id::uuid IS NULL OR h.schedule_id = :schedule_id::uuid)
  AND (:tenant::text IS NULL OR h.tenant = :tenant::text)
  AND (:job::text IS NULL OR h.job = :job::text)
  AND (:queue::text IS NULL OR h.queue = :queue::text)
  AND (:error::text IS NULL OR position(:error::text IN h.error) > 0)
  AND (:owner::text IS NULL OR
    (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = h.id AND w.tenant = :tenant::text) = :owner::text)
GROUP BY 1, 2
ORDER BY 3 DESC, 6 DESC
LIMIT :limit::bigint
