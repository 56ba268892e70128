SELECT
    id, tenant, owner, url, kind, events, schedule_id, tag, job, description, secrets, enabled, disabled_reason,
    failing_since, revision, created_at, created_by, updated_at
FROM duly_webhooks
WHERE id = :id AND (:owner IS NULL OR (tenant = :tenant AND owner = :owner))
