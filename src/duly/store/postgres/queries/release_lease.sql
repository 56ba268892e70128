-- The row stays, and with it the term, which never falls.
UPDATE duly.duly_leases SET expires_at = :now::bigint - 1
WHERE role = :role::text AND session = :session::bigint AND expires_at >= :now::bigint
