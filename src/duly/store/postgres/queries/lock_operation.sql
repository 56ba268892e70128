SELECT
    id::text, kind, body, made_at, made_by, status, position::text, matched, changed, refused, error, updated_at,
    finished_at, items
FROM duly_operations
WHERE id = :id::uuid
FOR UPDATE
