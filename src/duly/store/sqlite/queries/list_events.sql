SELECT number, at, name, tenant, owner, schedule_id, key, run_id, job, attempt, reason, error
FROM duly_events
WHERE number > :after
ORDER BY number
LIMIT :limit
