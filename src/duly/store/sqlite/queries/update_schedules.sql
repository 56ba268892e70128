UPDATE duly_schedules SET
    key = :key, name = :name, tenant = :tenant, description = :description, owner = :owner,
    correlation_id = :correlation_id, client_request_id = :client_request_id, tags = :tags, app = :app,
    revision = :revision, paused_at = :paused_at, paused_until = :paused_until, paused_by = :paused_by,
    pause_reason = :pause_reason, created_at = :created_at, created_by = :created_by, updated_at = :updated_at,
    ended_at = :ended_at, deleted_at = :deleted_at, replaces = :replaces, replaced_by = :replaced_by,
    kind = :kind, job = :job, topic = :topic, calendars = :calendars
WHERE id = :id
