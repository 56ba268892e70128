UPDATE duly_instances SET expires_at = :expires_at
WHERE session = :session
RETURNING session
