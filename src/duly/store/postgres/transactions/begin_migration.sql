BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL statement_timeout = :statement;
SET LOCAL lock_timeout = :statement;
SELECT pg_advisory_xact_lock(7236021170811240121)
