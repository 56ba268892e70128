-- What is not as the first key would have it: sealed with another, or not at all.
SELECT id, secrets
FROM duly_webhooks
WHERE id > :after_id AND (substr(secrets, 1, length(:head)) = :head) <> :sealed
ORDER BY id
LIMIT :limit
