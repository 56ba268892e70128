DELETE FROM duly.duly_history
WHERE id IN (
    SELECT id
    FROM duly.duly_history
    WHERE status = :status::text
    ORDER BY id DESC
    LIMIT :limit::bigint OFFSET :keep::bigint
)
RETURNING id::text, finished_at
