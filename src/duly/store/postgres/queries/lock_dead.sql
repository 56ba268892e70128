SELECT
    h.id::text, h.fence, h.schedule_id::text, h.revision, h.kind, h.window_at, h.tenant, h.job, h.queue, h.priority,
    h.max_attempts, h.timeout_ms, h.finished_at, h.payload, h.acked_at, h.reason, h.lane::text
FROM duly.duly_history AS h
WHERE h.id = ANY (:ids::uuid[]) AND h.status = 'failed'
  AND (:owner::text IS NULL OR
    (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = h.id AND w.tenant = :tenant::text) = :owner::text)
ORDER BY h.id
FOR UPDATE
