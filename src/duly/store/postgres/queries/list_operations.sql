SELECT
    id::text, kind, body, made_at, made_by, status, position::text, matched, changed, refused, error, updated_at,
    finished_at, NULL
FROM duly.duly_operations
WHERE (:after::uuid IS NULL OR id < :after::uuid)
  AND (:owner::text IS NULL OR (tenant = :tenant::text AND owner = :owner::text))
ORDER BY id DESC
LIMIT :limit::bigint
