-- What is not as the first key would have it: sealed with another, or not at all.
SELECT schedule_id, number, fields
FROM duly_changes
WHERE (schedule_id, number) > (:after_schedule_id, :after_number) AND (substr(fields, 1, length(:head)) = :head) <> :sealed
ORDER BY schedule_id, number
LIMIT :limit
