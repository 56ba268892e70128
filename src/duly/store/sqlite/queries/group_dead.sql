SELECT h.job, substr(h.error, 1, 200), count(*), min(h.finished_at), max(h.finished_at), max(h.id)
FROM duly_history AS h INDEXED BY duly_history_dead
WHERE h.status = 'failed' AND h.acked_at IS NULL AND h.id > ''
  AND (:schedule_id IS NULL OR h.schedule_id = :schedule_id)
  AND (:tenant IS NULL OR h.tenant = :tenant)
  AND (:job IS NULL OR h.job = :job)
  AND (:queue IS NULL OR h.queue = :queue)
  AND (:error IS NULL OR instr(h.error, :error) > 0)
  AND (:owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = h.id AND w.tenant = :tenant) = :owner)
GROUP BY 1, 2
ORDER BY 3 DESC, 6 DESC
LIMIT :limit
