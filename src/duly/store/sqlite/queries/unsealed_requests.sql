-- What is not as the first key would have it: sealed with another, or not at all.
SELECT tenant, key, answer
FROM duly_requests
WHERE (tenant, key) > (:after_tenant, :after_key) AND (substr(answer, 1, length(:head)) = :head) <> :sealed
ORDER BY tenant, key
LIMIT :limit
