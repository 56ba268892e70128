INSERT INTO duly_keys (
    id, digest, name, owner, tenant, scopes, quotas, created_at, created_by, expires_at, replaces, queues
)
VALUES (
    :id, :digest, :name, :owner, :tenant, :scopes, :quotas, :now, :created_by, :expires_at, :replaces, :queues
)
ON CONFLICT DO NOTHING
