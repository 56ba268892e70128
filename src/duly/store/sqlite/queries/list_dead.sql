-- Only dated runs: see list_undated_dead.
SELECT
    h.id, h.schedule_id, s.key, h.revision, h.kind, h.status, h.reason, h.tenant, h.window_at, h.since, h.windows,
    h.job, h.queue, h.priority, 0, h.due_at, h.attempt, h.max_attempts, h.fence, h.fired_at, h.started_at,
    h.finished_at, 0, h.error, coalesce(i.name, e.name), NULL, NULL, NULL,
    (SELECT d.run_id FROM duly_redrives AS d WHERE d.made_run = h.id), NULL
FROM duly_history AS h INDEXED BY duly_history_dead
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_instances AS i ON i.session = h.session
LEFT JOIN duly_ended_instances AS e ON e.session = h.session
WHERE h.status = 'failed' AND h.acked_at IS NULL
  AND h.id < :after
  AND (h.kind IN ('window', 'backfill') OR substr(h.id, 1, 8) = printf('%08x', coalesce(h.window_at, h.fired_at) >> 16))
  AND (:schedule_id IS NULL OR h.schedule_id = :schedule_id)
  AND (:tenant IS NULL OR h.tenant = :tenant)
  AND (:job IS NULL OR h.job = :job)
  AND (:queue IS NULL OR h.queue = :queue)
  AND (:error IS NULL OR instr(h.error, :error) > 0)
  AND (:error_type IS NULL OR EXISTS (SELECT 1 FROM duly_attempts AS t
    WHERE t.run_id = h.id AND t.fence = h.fence AND t.error_type = :error_type))
  AND (:error_location IS NULL OR EXISTS (SELECT 1 FROM duly_attempts AS t
    WHERE t.run_id = h.id AND t.fence = h.fence AND t.error_location = :error_location))
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = h.id AND w.tenant = :tenant) = :owner)
ORDER BY h.id DESC
LIMIT :limit
