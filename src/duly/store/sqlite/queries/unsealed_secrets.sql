-- What is not as the first key would have it: sealed with another, or not at all.
SELECT name, value
FROM duly_secrets
WHERE name > :after_name AND (substr(value, 1, length(:head)) = :head) <> :sealed
ORDER BY name
LIMIT :limit
