-- What is not as the first key would have it: sealed with another, or not at all.
SELECT id::text, payload
FROM duly.duly_runs
WHERE id > :after_id::uuid AND starts_with(payload, :head::text) <> :sealed::bool
ORDER BY id
LIMIT :limit::bigint
