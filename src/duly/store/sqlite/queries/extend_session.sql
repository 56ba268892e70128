UPDATE duly_instances SET expires_at = :expires_at, skew_ms = coalesce(:skew_ms, skew_ms)
WHERE session = :session
RETURNING session
