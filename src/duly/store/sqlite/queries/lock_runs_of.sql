-- Differs from postgres: no row locks, a write transaction is alone.
SELECT NULL WHERE false
