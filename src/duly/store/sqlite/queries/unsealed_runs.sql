-- What is not as the first key would have it: sealed with another, or not at all.
SELECT id, payload
FROM duly_runs
WHERE id > :after_id AND (substr(payload, 1, length(:head)) = :head) <> :sealed
ORDER BY id
LIMIT :limit
