-- What is not as the first key would have it: sealed with another, or not at all.
SELECT id, payload, result
FROM duly_history
WHERE id > :after_id AND ((substr(payload, 1, length(:head)) = :head) <> :sealed OR (substr(result, 1, length(:head)) = :head) <> :sealed)
ORDER BY id
LIMIT :limit
