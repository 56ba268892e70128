-- Differs from postgres: no row locks, a write transaction is alone.
SELECT id, name, tenant, description, body, revision, created_at, created_by, updated_at, updated_by
FROM duly_calendars
WHERE tenant = :tenant AND name = :name
