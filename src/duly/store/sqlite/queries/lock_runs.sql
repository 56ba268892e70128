-- Differs from postgres: no row locks, a write transaction is alone.
SELECT id, attempt, max_attempts, cancel_at, started_at
FROM duly_runs
WHERE id = :id AND fence = :fence AND claimed_by IS :session AND (claimed_by IS NOT NULL OR hold = 3)
