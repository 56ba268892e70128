-- The lock is one per schema: stores in other schemas of the database do not wait.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL statement_timeout = :statement;
SET LOCAL lock_timeout = :statement;
SELECT pg_advisory_xact_lock(:lock)
