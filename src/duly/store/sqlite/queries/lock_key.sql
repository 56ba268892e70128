-- Differs from postgres: no row locks, a write transaction is alone.
SELECT
    id, digest, name, owner, tenant, scopes, quotas, created_at, created_by, expires_at, revoked_at, last_used_at,
    replaces, queues
FROM duly_keys
WHERE id = :id
