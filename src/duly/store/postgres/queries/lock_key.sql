SELECT
    id, digest, name, owner, tenant, scopes, quotas, created_at, created_by, expires_at, revoked_at, last_used_at,
    replaces, queues
FROM duly.duly_keys
WHERE id = :id::text
FOR UPDATE
