DELETE FROM duly_operations
WHERE id IN (SELECT id FROM duly_operations WHERE finished_at < :finished_before::bigint LIMIT :limit::bigint)
RETURNING id::text
