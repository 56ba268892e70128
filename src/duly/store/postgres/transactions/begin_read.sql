BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL statement_timeout = :statement;
SET LOCAL lock_timeout = :lock;
SET LOCAL idle_in_transaction_session_timeout = :idle;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL jit = off;
SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
