SELECT
    id, kind, body, made_at, made_by, status, position, matched, changed, refused, error, updated_at,
    finished_at, items, tenant, owner
FROM duly_operations
WHERE id = :id
  AND (:owner IS NULL OR (tenant = :tenant AND owner = :owner))
