INSERT INTO duly_attempts (run_id, fence, attempt, outcome, error, started_at, ended_at, session)
SELECT *
FROM unnest(
    :run_id::uuid[], :fence::bigint[], :attempt::int[], :outcome::text[], :error::text[], :started_at::bigint[],
    :ended_at::bigint[], :session::bigint[]
)
ON CONFLICT DO NOTHING
