DELETE FROM duly_history
WHERE id IN (
    SELECT id FROM duly_history WHERE status = :status ORDER BY id DESC LIMIT :limit OFFSET :keep
)
RETURNING id, finished_at
