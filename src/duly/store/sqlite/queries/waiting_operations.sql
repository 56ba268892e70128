SELECT id FROM duly_operations
WHERE status = 'running' AND updated_at < :before
ORDER BY updated_at
LIMIT :limit
