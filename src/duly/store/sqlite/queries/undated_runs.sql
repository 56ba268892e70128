-- Differs from postgres: one arm per index, merged in their order; an arm whose constant condition is false costs nothing.
SELECT at, id FROM (
    SELECT at, id, tenant, job, status FROM duly_undated_open
    WHERE :schedule_id IS NOT NULL AND schedule_id = :schedule_id
    UNION ALL SELECT at, id, tenant, job, status FROM duly_undated_open WHERE :schedule_id IS NULL
    UNION ALL SELECT at, id, tenant, job, status FROM duly_undated_ended
    WHERE :schedule_id IS NOT NULL AND schedule_id = :schedule_id
    UNION ALL SELECT at, id, tenant, job, status FROM duly_undated_ended WHERE :schedule_id IS NULL
) AS run
WHERE at <= :at AND (at < :at OR id < :id) AND at >= :lower_at AND (at > :lower_at OR id >= :lower_id)
  AND (:job IS NULL OR job = :job)
  AND (:workflow IS NULL OR job = :workflow OR substr(job, 1, length(:workflow) + 1) = :workflow || '@')
  AND (:tenant IS NULL OR tenant = :tenant) AND (:status IS NULL OR :status = status)
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = run.id) = :owner)
ORDER BY at DESC, id DESC LIMIT :limit
