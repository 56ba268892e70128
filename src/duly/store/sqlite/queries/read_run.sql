SELECT
    r.id, r.schedule_id, s.key, r.revision, r.kind,
    CASE WHEN r.undo_at IS NOT NULL THEN 'cancelling' WHEN r.claimed_by IS NOT NULL THEN 'running'
        WHEN r.hold = 3 THEN 'dispatched' WHEN r.hold = 4 THEN 'suspended' ELSE 'pending' END,
    NULL, r.tenant, r.window_at, NULL, NULL, r.job, r.queue, r.priority, r.hold, r.due_at, r.attempt, r.max_attempts,
    r.fence, r.fired_at, r.started_at, NULL, r.cancel_at IS NOT NULL,
    (SELECT a.error FROM duly_attempts AS a WHERE a.run_id = r.id AND a.error IS NOT NULL
        ORDER BY a.fence DESC LIMIT 1),
    coalesce(i.name, e.name), coalesce(r.payload, v.payload), NULL, NULL, d.run_id, NULL
FROM duly_runs AS r
LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly_revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN duly_instances AS i ON i.session = r.claimed_by
LEFT JOIN duly_ended_instances AS e ON e.session = r.claimed_by
LEFT JOIN duly_redrives AS d ON d.made_run = r.id
WHERE r.id = :id
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = r.id AND w.tenant = :tenant) = :owner)
UNION ALL
SELECT
    h.id, h.schedule_id, s.key, h.revision, h.kind, h.status,
    h.reason, h.tenant, h.window_at, h.since, h.windows, h.job, h.queue, h.priority, 0, h.due_at, h.attempt,
    h.max_attempts, h.fence, h.fired_at, h.started_at, h.finished_at, 0, h.error, coalesce(i.name, e.name),
    coalesce(h.payload, v.payload), h.result, h.acked_at, d.run_id, n.made_run
FROM duly_history AS h
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_revisions AS v ON v.schedule_id = h.schedule_id AND v.revision = h.revision
LEFT JOIN duly_instances AS i ON i.session = h.session
LEFT JOIN duly_ended_instances AS e ON e.session = h.session
LEFT JOIN duly_redrives AS d ON d.made_run = h.id
LEFT JOIN duly_redrives AS n ON n.run_id = h.id AND n.fence = h.fence AND n.made_run IS NOT NULL
WHERE h.id = :id
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = h.id AND w.tenant = :tenant) = :owner)
