INSERT INTO duly.duly_operations (
    id, kind, body, made_at, made_by, status, matched, changed, refused, updated_at, finished_at, items, tenant,
    owner
)
VALUES (
    :id::uuid, :kind::text, :body::text, :now::bigint, :made_by::text, :status::text, :matched::bigint, 0, 0,
    :now::bigint, :finished_at::bigint, :items::text, :tenant::text, :owner::text
)
ON CONFLICT DO NOTHING
