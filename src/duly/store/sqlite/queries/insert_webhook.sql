INSERT INTO duly_webhooks (
    id, tenant, owner, url, kind, events, schedule_id, tag, job, description, secrets, enabled, disabled_reason,
    failing_since, revision, created_at, created_by, updated_at
)
VALUES (
    :id, :tenant, :owner, :url, :kind, :events, :schedule_id, :tag, :job, :description, :secrets, :enabled,
    :disabled_reason, :failing_since, :revision, :created_at, :created_by, :updated_at
)
ON CONFLICT DO NOTHING
