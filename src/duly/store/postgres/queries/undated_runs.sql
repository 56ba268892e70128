-- Unprepared: the filters that are given decide the plan. A schedule id that is none finds nothing.
SELECT r.at, r.id::text
FROM duly.duly_listed_runs AS r
WHERE r.undated AND (r.at, r.id) < (:at::bigint, :id::uuid) AND (r.at, r.id) >= (:lower_at::bigint, :lower_id::uuid)
  AND (
    :schedule_id::text IS NULL
    OR r.schedule_id = CASE
        WHEN :schedule_id::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
            THEN :schedule_id::text::uuid
    END
  )
  AND (:tenant::text IS NULL OR r.tenant = :tenant::text)
  AND (:job::text IS NULL OR r.job = :job::text)
  AND (:workflow::text IS NULL OR r.job = :workflow::text OR starts_with(r.job, :workflow::text || '@'))
  AND (:status::text IS NULL OR r.status = :status::text)
  AND (:owner::text IS NULL OR
    (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = r.id) = :owner::text)
ORDER BY r.at DESC, r.id DESC
LIMIT :limit::bigint
