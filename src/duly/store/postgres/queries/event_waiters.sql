SELECT DISTINCT run_id::text
FROM duly_steps
WHERE kind = 'event' AND status = 'asked' AND name = :name::text
ORDER BY 1
