SELECT schedule_id::text, number, made_at, made_by, action, revision, fields
FROM duly.duly_changes
WHERE schedule_id = :schedule_id::uuid AND (:after::int IS NULL OR number < :after::int)
ORDER BY number DESC
LIMIT :limit::bigint
