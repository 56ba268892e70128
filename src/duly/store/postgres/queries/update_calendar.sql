UPDATE duly.duly_calendars
SET description = :description::text, body = :body::text, revision = :revision::int, updated_at = :updated_at::bigint,
    updated_by = :updated_by::text
WHERE tenant = :tenant::text AND name = :name::text
