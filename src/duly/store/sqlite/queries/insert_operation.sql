INSERT INTO duly_operations (
    id, kind, body, made_at, made_by, status, matched, changed, refused, updated_at, finished_at, items, tenant,
    owner
)
VALUES (:id, :kind, :body, :now, :made_by, :status, :matched, 0, 0, :now, :finished_at, :items, :tenant, :owner)
ON CONFLICT DO NOTHING
