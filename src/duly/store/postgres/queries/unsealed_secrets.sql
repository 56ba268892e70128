-- What is not as the first key would have it: sealed with another, or not at all.
SELECT name, value
FROM duly.duly_secrets
WHERE name > :after_name::text AND starts_with(value, :head::text) <> :sealed::bool
ORDER BY name
LIMIT :limit::bigint
