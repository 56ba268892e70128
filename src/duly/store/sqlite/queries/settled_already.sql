SELECT id FROM duly_history
WHERE id = :id AND fence = :fence AND session IS :session
UNION
SELECT run_id FROM duly_attempts
WHERE run_id = :id AND fence = :fence AND session IS :session
