-- What is not as the first key would have it: sealed with another, or not at all.
SELECT schedule_id::text, number, fields
FROM duly.duly_changes
WHERE (schedule_id, number) > (:after_schedule_id::uuid, :after_number::bigint) AND starts_with(fields, :head::text) <> :sealed::bool
ORDER BY schedule_id, number
LIMIT :limit::bigint
