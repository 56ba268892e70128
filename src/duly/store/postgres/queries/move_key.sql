UPDATE duly.duly_keys
SET expires_at = :expires_at::bigint, revoked_at = :revoked_at::bigint
WHERE id = :id::text
