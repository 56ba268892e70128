-- Differs from postgres: no row locks, a write transaction is alone.
SELECT 1 FROM duly_instances
WHERE session = :session
