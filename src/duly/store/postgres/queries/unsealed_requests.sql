-- What is not as the first key would have it: sealed with another, or not at all.
SELECT tenant, key, answer
FROM duly.duly_requests
WHERE (tenant, key) > (:after_tenant::text, :after_key::text) AND starts_with(answer, :head::text) <> :sealed::bool
ORDER BY tenant, key
LIMIT :limit::bigint
