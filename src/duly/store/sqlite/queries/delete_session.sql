DELETE FROM duly_instances
WHERE session = :session
RETURNING session
