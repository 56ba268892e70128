UPDATE duly.duly_schedules AS s
SET key = n.key, name = n.name, tenant = n.tenant, description = n.description, owner = n.owner,
    correlation_id = n.correlation_id, client_request_id = n.client_request_id, tags = n.tags, app = n.app,
    revision = n.revision, paused_at = n.paused_at, paused_until = n.paused_until, paused_by = n.paused_by,
    pause_reason = n.pause_reason, created_at = n.created_at, created_by = n.created_by, updated_at = n.updated_at,
    ended_at = n.ended_at, deleted_at = n.deleted_at, replaces = n.replaces, replaced_by = n.replaced_by,
    kind = n.kind, job = n.job, topic = n.topic, calendars = n.calendars
FROM unnest(
    :id::uuid[], :key::text[], :name::text[], :tenant::text[], :description::text[], :owner::text[],
    :correlation_id::text[], :client_request_id::text[], :tags::text[], :app::text[], :revision::int[],
    :paused_at::bigint[], :paused_until::bigint[], :paused_by::text[], :pause_reason::text[], :created_at::bigint[],
    :created_by::text[], :updated_at::bigint[], :ended_at::bigint[], :deleted_at::bigint[], :replaces::text[],
    :replaced_by::text[], :kind::text[], :job::text[], :topic::text[], :calendars::text[]
) AS n (
    id, key, name, tenant, description, owner, correlation_id, client_request_id, tags, app, revision,
    paused_at, paused_until, paused_by, pause_reason, created_at, created_by, updated_at, ended_at, deleted_at,
    replaces, replaced_by, kind, job, topic, calendars
)
WHERE s.id = n.id
