SELECT number, at, name, tenant, owner, schedule_id::text, key, run_id::text, job, attempt, reason, error
FROM duly.duly_events
WHERE number > :after::bigint
ORDER BY number
LIMIT :limit::bigint
