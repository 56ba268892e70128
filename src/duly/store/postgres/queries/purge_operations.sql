DELETE FROM duly.duly_operations
WHERE id IN (SELECT id FROM duly.duly_operations WHERE finished_at < :finished_before::bigint LIMIT :limit::bigint)
RETURNING id::text
