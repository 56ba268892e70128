BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL statement_timeout = :statement;
SET LOCAL lock_timeout = :lock;
SET LOCAL idle_in_transaction_session_timeout = :idle;
-- Every statement is made for index scans and nested loops; statistics of a table that was empty a moment ago must not
-- talk the planner into anything else.
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL jit = off;
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
