SELECT
    r.id::text, r.schedule_id::text, s.key, r.revision, r.kind, r.status, r.reason, r.tenant, r.window_at, r.since,
    r.windows, r.job, r.queue, r.priority, r.hold, r.due_at, r.attempt, r.max_attempts, r.fence, r.fired_at,
    r.started_at, r.finished_at, r.cancel_requested,
    CASE WHEN r.finished_at IS NULL
        THEN (SELECT a.error FROM duly.duly_attempts AS a WHERE a.run_id = r.id AND a.error IS NOT NULL
        ORDER BY a.fence DESC LIMIT 1)
        ELSE r.error END, coalesce(i.name, e.name), NULL,
    CASE WHEN octet_length(r.result) <= :long::bigint THEN r.result END,
    r.acked_at, (SELECT d.run_id::text FROM duly.duly_redrives AS d WHERE d.made_run = r.id),
    (SELECT n.made_run::text FROM duly.duly_redrives AS n WHERE n.run_id = r.id AND n.fence = r.fence)
FROM duly.duly_all_runs AS r
LEFT JOIN duly.duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly.duly_instances AS i ON i.session = r.session
LEFT JOIN duly.duly_ended_instances AS e ON e.session = r.session
WHERE r.id = ANY (:ids::uuid[])
  AND (:schedule_id::text IS NULL OR r.schedule_id::text = :schedule_id::text)
  AND (:tenant::text IS NULL OR r.tenant = :tenant::text)
  AND (:job::text IS NULL OR r.job = :job::text)
  AND (:workflow::text IS NULL OR r.job = :workflow::text OR starts_with(r.job, :workflow::text || '@'))
  AND (:status::text IS NULL OR r.status = :status::text)
  AND (:owner::text IS NULL OR
    (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = r.id) = :owner::text)
ORDER BY r.id DESC
