-- Like insert_schedules where nothing clashes; one that does is an error.
-- Spread: see insert_runs.
INSERT INTO duly.duly_schedules (
    id, key, name, tenant, description, owner, correlation_id, client_request_id, tags, app, revision,
    paused_at, paused_until, paused_by, pause_reason, created_at, created_by, updated_at, ended_at, deleted_at,
    replaces, replaced_by, kind, job, topic, calendars
)
SELECT
    n.id, n.key, n.name, coalesce(n.tenant, (:tenant::text[])[1]), n.description, n.owner, n.correlation_id,
    n.client_request_id, coalesce(n.tags, (:tags::text[])[1]), n.app, coalesce(n.revision, (:revision::int[])[1]),
    n.paused_at, n.paused_until, n.paused_by, n.pause_reason, coalesce(n.created_at, (:created_at::bigint[])[1]),
    n.created_by, coalesce(n.updated_at, (:updated_at::bigint[])[1]), n.ended_at, n.deleted_at, n.replaces,
    n.replaced_by, coalesce(n.kind, (:kind::text[])[1]), coalesce(n.job, (:job::text[])[1]), n.topic, n.calendars
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
