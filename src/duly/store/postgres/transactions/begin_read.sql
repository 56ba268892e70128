-- Every statement is made for index scans and nested loops; statistics of a table that was empty a moment ago must not
-- talk the planner into anything else. One SELECT sets it all: eight SETs take longer.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT
    floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
    set_config('statement_timeout', ':statement', true),
    set_config('lock_timeout', ':lock', true),
    set_config('idle_in_transaction_session_timeout', ':idle', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true),
    set_config('jit', 'off', true)
