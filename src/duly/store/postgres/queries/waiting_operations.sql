SELECT id::text FROM duly.duly_operations
WHERE status = 'running' AND updated_at < :before::bigint
ORDER BY updated_at
LIMIT :limit::bigint
