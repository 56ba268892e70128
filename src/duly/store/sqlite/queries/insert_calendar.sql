INSERT INTO duly_calendars (
    id, name, tenant, description, body, revision, created_at, created_by, updated_at, updated_by
)
VALUES (:id, :name, :tenant, :description, :body, :revision, :created_at, :created_by, :updated_at, :updated_by)
ON CONFLICT DO NOTHING
RETURNING id
