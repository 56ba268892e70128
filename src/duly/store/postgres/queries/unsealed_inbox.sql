-- What is not as the first key would have it: sealed with another, or not at all.
SELECT run_id::text, n, body
FROM duly.duly_inbox
WHERE (run_id, n) > (:after_run_id::uuid, :after_n::bigint) AND starts_with(body, :head::text) <> :sealed::bool
ORDER BY run_id, n
LIMIT :limit::bigint
