INSERT INTO duly.duly_keys (
    id, digest, name, owner, tenant, scopes, quotas, created_at, created_by, expires_at, replaces, queues
)
VALUES (
    :id::text, :digest::text, :name::text, :owner::text, :tenant::text, :scopes::text, :quotas::text, :now::bigint,
    :created_by::text, :expires_at::bigint, :replaces::text, :queues::text
)
ON CONFLICT DO NOTHING
