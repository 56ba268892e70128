SELECT id::text, name, tenant, description, body, revision, created_at, created_by, updated_at, updated_by
FROM duly.duly_calendars
WHERE (:tenant::text IS NULL OR tenant = :tenant::text) AND (:after::uuid IS NULL OR id > :after::uuid)
ORDER BY id
LIMIT :limit::bigint
