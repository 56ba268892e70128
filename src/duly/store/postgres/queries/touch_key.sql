UPDATE duly.duly_keys SET last_used_at = :now::bigint
WHERE id = :id::text AND coalesce(last_used_at, 0) < :now::bigint
