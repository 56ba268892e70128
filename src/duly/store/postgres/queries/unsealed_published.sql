-- What is not as the first key would have it: sealed with another, or not at all.
SELECT run_id::text, name, value
FROM duly.duly_published
WHERE (run_id, name) > (:after_run_id::uuid, :after_name::text) AND starts_with(value, :head::text) <> :sealed::bool
ORDER BY run_id, name
LIMIT :limit::bigint
