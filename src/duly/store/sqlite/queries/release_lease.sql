-- The row stays, and with it the term, which never falls.
UPDATE duly_leases SET expires_at = :now - 1
WHERE role = :role AND session = :session AND expires_at >= :now
