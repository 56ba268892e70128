UPDATE duly_uniques SET run_id = :run_id, expires_at = :expires_at
WHERE tenant = :tenant AND owner = :owner AND key = :key
