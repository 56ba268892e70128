UPDATE duly_keys SET last_used_at = :now
WHERE id = :id AND coalesce(last_used_at, 0) < :now
