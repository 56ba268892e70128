DELETE FROM duly.duly_history
WHERE id = ANY (ARRAY(
    SELECT id FROM duly.duly_history WHERE schedule_id = :schedule_id::uuid ORDER BY id LIMIT :limit::bigint
))
RETURNING id::text
