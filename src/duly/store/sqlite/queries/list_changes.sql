SELECT schedule_id, number, made_at, made_by, action, revision, fields
FROM duly_changes
WHERE schedule_id = :schedule_id AND (:after IS NULL OR number < :after)
ORDER BY number DESC
LIMIT :limit
