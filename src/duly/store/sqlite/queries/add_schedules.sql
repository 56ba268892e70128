-- Like insert_schedules where nothing clashes; one that does is an error.
INSERT INTO duly_schedules (
    id, key, name, tenant, description, owner, correlation_id, client_request_id, tags, app, revision,
    paused_at, paused_until, paused_by, pause_reason, created_at, created_by, updated_at, ended_at, deleted_at,
    replaces, replaced_by, kind, job, topic, calendars
)
VALUES (
    :id, :key, :name, :tenant, :description, :owner, :correlation_id, :client_request_id, :tags, :app, :revision,
    :paused_at, :paused_until, :paused_by, :pause_reason, :created_at, :created_by, :updated_at, :ended_at, :deleted_at,
    :replaces, :replaced_by, :kind, :job, :topic, :calendars
)
