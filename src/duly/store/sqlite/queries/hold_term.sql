-- Differs from postgres: no row locks, a write transaction is alone.
SELECT 1 FROM duly_leases
WHERE role = :role AND session = :session AND term = :term
