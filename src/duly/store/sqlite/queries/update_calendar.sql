UPDATE duly_calendars SET
    description = :description, body = :body, revision = :revision, updated_at = :updated_at, updated_by = :updated_by
WHERE tenant = :tenant AND name = :name
