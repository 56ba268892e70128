-- What is not as the first key would have it: sealed with another, or not at all.
SELECT run_id, n, body
FROM duly_inbox
WHERE (run_id, n) > (:after_run_id, :after_n) AND (substr(body, 1, length(:head)) = :head) <> :sealed
ORDER BY run_id, n
LIMIT :limit
