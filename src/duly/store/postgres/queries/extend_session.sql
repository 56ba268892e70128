UPDATE duly_instances SET expires_at = :expires_at::bigint WHERE session = :session::bigint RETURNING session
