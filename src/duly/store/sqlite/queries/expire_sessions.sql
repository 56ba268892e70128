DELETE FROM duly_instances
WHERE expires_at < :now
RETURNING session
