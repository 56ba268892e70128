-- Differs from postgres: one arm per index, merged in id order; an arm whose constant condition is false costs nothing.
-- Only dated runs: see undated_runs.
WITH page (id) AS MATERIALIZED (
    SELECT id FROM (
        SELECT id, tenant, job, status FROM duly_dated_open WHERE :schedule_id IS NOT NULL AND schedule_id = :schedule_id
        UNION ALL SELECT id, tenant, job, status FROM duly_dated_open WHERE :schedule_id IS NULL
        UNION ALL SELECT id, tenant, job, status FROM duly_dated_ended
            WHERE :schedule_id IS NOT NULL AND schedule_id = :schedule_id
        UNION ALL SELECT id, tenant, job, status FROM duly_dated_ended WHERE :schedule_id IS NULL
    ) AS run WHERE id < :after AND id >= coalesce(:lower, '') AND (:job IS NULL OR job = :job)
        AND (:workflow IS NULL OR job = :workflow OR substr(job, 1, length(:workflow) + 1) = :workflow || '@')
        AND (:tenant IS NULL OR tenant = :tenant) AND (:status IS NULL OR :status = status)
        AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = run.id) = :owner)
    ORDER BY id DESC LIMIT :limit
)
SELECT
    r.id, r.schedule_id, s.key, r.revision, r.kind,
    CASE WHEN r.undo_at IS NOT NULL THEN 'cancelling' WHEN r.claimed_by IS NOT NULL THEN 'running'
        WHEN r.hold = 3 THEN 'dispatched' WHEN r.hold = 4 THEN 'suspended' ELSE 'pending' END,
    NULL, r.tenant, r.window_at, NULL, NULL, r.job, r.queue, r.priority, r.hold, r.due_at, r.attempt, r.max_attempts, r.fence,
    r.fired_at, r.started_at, NULL, r.cancel_at IS NOT NULL, (SELECT a.error FROM duly_attempts AS a WHERE a.run_id = r.id AND a.error IS NOT NULL
        ORDER BY a.fence DESC LIMIT 1),
    coalesce(i.name, e.name), NULL, NULL, NULL, (SELECT d.run_id FROM duly_redrives AS d WHERE d.made_run = r.id), NULL
FROM duly_runs AS r
LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly_instances AS i ON i.session = r.claimed_by
LEFT JOIN duly_ended_instances AS e ON e.session = r.claimed_by
WHERE r.id IN (SELECT id FROM page)
UNION ALL
SELECT
    h.id, h.schedule_id, s.key, h.revision, h.kind, h.status, h.reason, h.tenant, h.window_at, h.since, h.windows,
    h.job, h.queue, h.priority, 0, h.due_at, h.attempt, h.max_attempts, h.fence, h.fired_at, h.started_at, h.finished_at, 0,
    h.error, coalesce(i.name, e.name), NULL, CASE WHEN octet_length(h.result) <= :long THEN h.result END, h.acked_at, (SELECT d.run_id FROM duly_redrives AS d WHERE d.made_run = h.id),
    (SELECT n.made_run FROM duly_redrives AS n WHERE n.run_id = h.id AND n.fence = h.fence)
FROM duly_history AS h
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_instances AS i ON i.session = h.session
LEFT JOIN duly_ended_instances AS e ON e.session = h.session
WHERE h.id IN (SELECT id FROM page)
ORDER BY 1 DESC
