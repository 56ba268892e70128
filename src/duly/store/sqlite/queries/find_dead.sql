SELECT h.id, h.fence
FROM duly_history AS h INDEXED BY duly_history_dead
WHERE h.status = 'failed' AND h.acked_at IS NULL
  AND h.finished_at <= :died_by
  AND h.id > coalesce(:after, '')
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
ORDER BY h.id
LIMIT :limit
