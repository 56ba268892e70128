SELECT
    id::text, kind, body, made_at, made_by, status, position::text, matched, changed, refused, error, updated_at,
    finished_at, items, tenant, owner
FROM duly.duly_operations
WHERE id = :id::uuid
  AND (:owner::text IS NULL OR (tenant = :tenant::text AND owner = :owner::text))
FOR UPDATE
