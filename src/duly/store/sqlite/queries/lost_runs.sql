SELECT
    r.id, r.job, r.kind, r.queue, r.attempt, r.max_attempts, r.fence, r.payload, r.schedule_id, r.revision,
    r.window_at, r.due_at, r.fired_at, r.lane, r.timeout_ms, r.tenant, r.claimed_by,
    CASE WHEN i.session IS NULL THEN 'session' WHEN r.deadline_at < :now THEN 'deadline' ELSE 'cancel' END
FROM duly_runs AS r
LEFT JOIN duly_instances AS i ON i.session = r.claimed_by
WHERE r.claimed_by IS NOT NULL
  AND (i.session IS NULL OR r.deadline_at < :now OR r.cancel_at < :cancelled_before)
ORDER BY r.claimed_by, r.id
LIMIT :limit
