-- A text that is no id finds nothing.
SELECT
    r.id::text, r.schedule_id::text, s.key, r.revision, r.kind, r.status, r.reason, r.tenant, r.window_at, r.since,
    r.windows, r.job, r.queue, r.priority, r.hold, r.due_at, r.attempt, r.max_attempts, r.fence, r.fired_at,
    r.started_at, r.finished_at, r.cancel_requested,
    CASE WHEN r.finished_at IS NULL
        THEN (SELECT a.error FROM duly.duly_attempts AS a WHERE a.run_id = r.id AND a.error IS NOT NULL
        ORDER BY a.fence DESC LIMIT 1)
        ELSE r.error END, coalesce(i.name, e.name), coalesce(r.payload, v.payload), r.result,
    r.acked_at, d.run_id::text, n.made_run::text
FROM duly.duly_all_runs AS r
LEFT JOIN duly.duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly.duly_revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision AND r.payload IS NULL
LEFT JOIN duly.duly_instances AS i ON i.session = r.session
LEFT JOIN duly.duly_ended_instances AS e ON e.session = r.session
LEFT JOIN duly.duly_redrives AS d ON d.made_run = r.id
LEFT JOIN duly.duly_redrives AS n ON n.run_id = r.id AND n.fence = r.fence AND n.made_run IS NOT NULL
WHERE r.id = CASE
    WHEN :id::text ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' THEN :id::text::uuid
END
  AND (:owner::text IS NULL OR
    (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = r.id AND w.tenant = :tenant::text) = :owner::text)
