INSERT INTO duly.duly_leases AS l (role, session, term, expires_at)
VALUES (:role::text, :session::bigint, 1, :expires_at::bigint)
ON CONFLICT (role) DO UPDATE
SET session = excluded.session,
    term = CASE WHEN l.session = excluded.session THEN l.term ELSE l.term + 1 END,
    expires_at = excluded.expires_at
WHERE l.session = excluded.session OR l.expires_at < :now::bigint OR :seize::boolean
RETURNING term
