-- What is not as the first key would have it: sealed with another, or not at all.
SELECT run_id, position, result, log
FROM duly_steps
WHERE (run_id, position) > (:after_run_id, :after_position) AND ((substr(result, 1, length(:head)) = :head) <> :sealed OR (substr(log, 1, length(:head)) = :head) <> :sealed)
ORDER BY run_id, position
LIMIT :limit
