UPDATE duly_keys
SET expires_at = :expires_at, revoked_at = :revoked_at
WHERE id = :id
