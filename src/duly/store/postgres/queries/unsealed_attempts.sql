-- What is not as the first key would have it: sealed with another, or not at all.
SELECT run_id::text, fence, stack
FROM duly.duly_attempts
WHERE (run_id, fence) > (:after_run_id::uuid, :after_fence::bigint) AND starts_with(stack, :head::text) <> :sealed::bool
ORDER BY run_id, fence
LIMIT :limit::bigint
