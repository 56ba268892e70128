-- The server's clock, in microseconds. Where a guess at it was wrong, a division by zero ends the transaction: what was
-- sent along is not done.
-- Every statement is made for index scans and nested loops; statistics of a table that was empty a moment ago must not
-- talk the planner into anything else. One SELECT sets it all: eight SETs take longer.
SELECT
    c.shows,
    1 / coalesce(c.shows - :guess::bigint BETWEEN 0 AND 1000000, true)::int,
    set_config('statement_timeout', ':statement', true),
    set_config('lock_timeout', ':lock', true),
    set_config('idle_in_transaction_session_timeout', ':idle', true),
    set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true),
    set_config('jit', 'off', true)
FROM (SELECT floor(extract(epoch FROM clock_timestamp()) OPERATOR(pg_catalog.*) 1000000)::bigint AS shows) AS c
