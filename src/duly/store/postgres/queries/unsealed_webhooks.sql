-- What is not as the first key would have it: sealed with another, or not at all.
SELECT id::text, secrets
FROM duly.duly_webhooks
WHERE id > :after_id::uuid AND starts_with(secrets, :head::text) <> :sealed::bool
ORDER BY id
LIMIT :limit::bigint
