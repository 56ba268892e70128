SELECT DISTINCT run_id
FROM duly_steps
WHERE kind = 'event' AND status = 'asked' AND name = :name
ORDER BY run_id
