UPDATE duly.duly_instances SET expires_at = :expires_at::bigint, skew_ms = coalesce(:skew_ms::bigint, skew_ms)
WHERE session = :session::bigint
RETURNING session
