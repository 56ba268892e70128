-- What is not as the first key would have it: sealed with another, or not at all.
SELECT run_id, fence, stack
FROM duly_attempts
WHERE (run_id, fence) > (:after_run_id, :after_fence) AND (substr(stack, 1, length(:head)) = :head) <> :sealed
ORDER BY run_id, fence
LIMIT :limit
