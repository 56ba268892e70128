INSERT INTO duly_operations (
    id, kind, body, made_at, made_by, status, matched, changed, refused, updated_at, finished_at, tenant, owner
)
VALUES (
    :id::uuid, :kind::text, :body::text, :now::bigint, :made_by::text, :status::text, :matched::bigint, 0, 0,
    :now::bigint, :finished_at::bigint, :tenant::text, :owner::text
)
ON CONFLICT DO NOTHING
