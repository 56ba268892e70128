SELECT session, term, expires_at FROM duly_leases
WHERE role = :role::text
