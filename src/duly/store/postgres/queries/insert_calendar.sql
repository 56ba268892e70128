INSERT INTO duly.duly_calendars (
    id, name, tenant, description, body, revision, created_at, created_by, updated_at, updated_by
)
VALUES (
    :id::uuid, :name::text, :tenant::text, :description::text, :body::text, :revision::int, :created_at::bigint,
    :created_by::text, :updated_at::bigint, :updated_by::text
)
ON CONFLICT DO NOTHING
RETURNING id::text
