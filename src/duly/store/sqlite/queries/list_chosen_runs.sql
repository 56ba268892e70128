SELECT
    r.id, r.schedule_id, s.key, r.revision, r.kind,
    CASE WHEN r.undo_at IS NOT NULL THEN 'cancelling' WHEN r.claimed_by IS NOT NULL THEN 'running'
        WHEN r.hold = 3 THEN 'dispatched' WHEN r.hold = 4 THEN 'suspended' ELSE 'pending' END,
    NULL, r.tenant, r.window_at, NULL, NULL, r.job, r.queue, r.priority, r.hold, r.due_at, r.attempt, r.max_attempts,
    r.fence, r.fired_at, r.started_at, NULL, r.cancel_at IS NOT NULL,
    (SELECT a.error FROM duly_attempts AS a WHERE a.run_id = r.id AND a.error IS NOT NULL
        ORDER BY a.fence DESC LIMIT 1),
    coalesce(i.name, e.name), NULL, NULL, NULL, (SELECT d.run_id FROM duly_redrives AS d WHERE d.made_run = r.id), NULL
FROM duly_runs AS r
LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly_instances AS i ON i.session = r.claimed_by
LEFT JOIN duly_ended_instances AS e ON e.session = r.claimed_by
WHERE r.id IN (SELECT value FROM json_each(:ids))
  AND (:schedule_id IS NULL OR r.schedule_id = :schedule_id) AND (:tenant IS NULL OR r.tenant = :tenant)
  AND (:job IS NULL OR r.job = :job)
  AND (:workflow IS NULL OR r.job = :workflow OR substr(r.job, 1, length(:workflow) + 1) = :workflow || '@')
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = r.id) = :owner)
  AND (:status IS NULL OR :status = CASE WHEN r.undo_at IS NOT NULL THEN 'cancelling' WHEN r.claimed_by IS NOT NULL THEN 'running'
    WHEN r.hold = 3 THEN 'dispatched' WHEN r.hold = 4 THEN 'suspended' ELSE 'pending' END)
UNION ALL
SELECT
    h.id, h.schedule_id, s.key, h.revision, h.kind, h.status, h.reason, h.tenant, h.window_at, h.since, h.windows,
    h.job, h.queue, h.priority, 0, h.due_at, h.attempt, h.max_attempts, h.fence, h.fired_at, h.started_at,
    h.finished_at, 0, h.error, coalesce(i.name, e.name), NULL, CASE WHEN octet_length(h.result) <= :long THEN h.result END,
    h.acked_at, (SELECT d.run_id FROM duly_redrives AS d WHERE d.made_run = h.id),
    (SELECT n.made_run FROM duly_redrives AS n WHERE n.run_id = h.id AND n.fence = h.fence)
FROM duly_history AS h
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_instances AS i ON i.session = h.session
LEFT JOIN duly_ended_instances AS e ON e.session = h.session
WHERE h.id IN (SELECT value FROM json_each(:ids))
  AND (:schedule_id IS NULL OR h.schedule_id = :schedule_id) AND (:tenant IS NULL OR h.tenant = :tenant)
  AND (:job IS NULL OR h.job = :job)
  AND (:workflow IS NULL OR h.job = :workflow OR substr(h.job, 1, length(:workflow) + 1) = :workflow || '@')
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = h.id) = :owner)
  AND (:status IS NULL OR h.status = :status)
ORDER BY 1 DESC
