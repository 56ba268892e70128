-- Unprepared: the filters that are given decide the plan.
SELECT
    h.id::text, h.schedule_id::text, s.key, h.revision, h.kind, h.status, h.reason, h.tenant, h.window_at, h.since,
    h.windows, h.job, h.queue, h.priority, 0, h.due_at, h.attempt, h.max_attempts, h.fence, h.fired_at, h.started_at,
    h.finished_at, false, h.error, coalesce(i.name, e.name), NULL, NULL, NULL,
    (SELECT d.run_id::text FROM duly.duly_redrives AS d WHERE d.made_run = h.id), NULL
FROM duly.duly_history AS h
LEFT JOIN duly.duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly.duly_instances AS i ON i.session = h.session
LEFT JOIN duly.duly_ended_instances AS e ON e.session = h.session
WHERE h.status = 'failed' AND h.acked_at IS NULL
  AND (h.id >= '02000000-0000-0000-0000-000000000000' OR (h.kind <> 'window' AND h.kind <> 'backfill'
    AND left(h.id::text, 8) <> lpad(to_hex(coalesce(h.window_at, h.fired_at) >> 16), 8, '0')))
  AND (coalesce(h.window_at, h.fired_at), h.id) < (:at::bigint, :id::uuid)
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
ORDER BY coalesce(h.window_at, h.fired_at) DESC, h.id DESC
LIMIT :limit::bigint
