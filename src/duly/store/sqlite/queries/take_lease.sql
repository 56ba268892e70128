INSERT INTO duly_leases (role, session, term, expires_at)
VALUES (:role, :session, 1, :expires_at)
ON CONFLICT (role) DO UPDATE SET
    term = term + (session <> excluded.session),
    session = excluded.session,
    expires_at = excluded.expires_at
WHERE session = excluded.session OR expires_at < :now OR :seize
RETURNING term
