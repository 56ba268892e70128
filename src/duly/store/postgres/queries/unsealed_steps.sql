-- What is not as the first key would have it: sealed with another, or not at all.
SELECT run_id::text, position, result, log
FROM duly.duly_steps
WHERE (run_id, position) > (:after_run_id::uuid, :after_position::bigint) AND (starts_with(result, :head::text) <> :sealed::bool OR starts_with(log, :head::text) <> :sealed::bool)
ORDER BY run_id, position
LIMIT :limit::bigint
