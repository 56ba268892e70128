INSERT INTO duly.duly_webhooks (
    id, tenant, owner, url, kind, events, schedule_id, tag, job, description, secrets, enabled, disabled_reason,
    failing_since, revision, created_at, created_by, updated_at
)
VALUES (
    :id::uuid, :tenant::text, :owner::text, :url::text, :kind::text, :events::text, :schedule_id::uuid, :tag::text,
    :job::text, :description::text, :secrets::text, :enabled::boolean, :disabled_reason::text, :failing_since::bigint,
    :revision::int, :created_at::bigint, :created_by::text, :updated_at::bigint
)
ON CONFLICT DO NOTHING
