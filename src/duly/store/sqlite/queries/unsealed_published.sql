-- What is not as the first key would have it: sealed with another, or not at all.
SELECT run_id, name, value
FROM duly_published
WHERE (run_id, name) > (:after_run_id, :after_name) AND (substr(value, 1, length(:head)) = :head) <> :sealed
ORDER BY run_id, name
LIMIT :limit
