SELECT session, term, expires_at FROM duly.duly_leases
WHERE role = :role::text
