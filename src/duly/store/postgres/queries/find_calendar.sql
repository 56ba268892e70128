SELECT id::text, name, tenant, description, body, revision, created_at, created_by, updated_at, updated_by
FROM duly.duly_calendars
WHERE tenant = :tenant::text AND name = :name::text
