INSERT INTO duly_schedules (
    id, key, name, tenant, description, owner, correlation_id, client_request_id, tags, app, revision,
    paused_at, paused_until, paused_by, pause_reason, created_at, created_by, updated_at, ended_at, deleted_at,
    replaces, replaced_by, kind, job, topic, calendars
)
SELECT *
FROM unnest(
    :id::uuid[], :key::text[], :name::text[], :tenant::text[], :description::text[], :owner::text[],
    :correlation_id::text[], :client_request_id::text[], :tags::text[], :app::text[], :revision::int[],
    :paused_at::bigint[], :paused_until::bigint[], :paused_by::text[], :pause_reason::text[], :created_at::bigint[],
    :created_by::text[], :updated_at::bigint[], :ended_at::bigint[], :deleted_at::bigint[], :replaces::text[],
    :replaced_by::text[], :kind::text[], :job::text[], :topic::text[], :calendars::text[]
)
ON CONFLICT DO NOTHING
RETURNING id::text
