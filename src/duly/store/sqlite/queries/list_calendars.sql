SELECT id, name, tenant, description, body, revision, created_at, created_by, updated_at, updated_by
FROM duly_calendars
WHERE id > coalesce(:after, '') AND (:tenant IS NULL OR tenant = :tenant)
ORDER BY id
LIMIT :limit
