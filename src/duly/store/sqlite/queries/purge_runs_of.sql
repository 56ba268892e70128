DELETE FROM duly_history
WHERE id IN (SELECT id FROM duly_history WHERE schedule_id = :schedule_id ORDER BY id LIMIT :limit)
RETURNING id
