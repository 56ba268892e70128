SELECT
    id::text, tenant, owner, url, kind, events, schedule_id::text, tag, job, description, secrets, enabled,
    disabled_reason, failing_since, revision, created_at, created_by, updated_at
FROM duly.duly_webhooks
WHERE (:after::uuid IS NULL OR id > :after::uuid)
  AND (:tenant::text IS NULL OR tenant = :tenant::text)
  AND (:owner::text IS NULL OR owner = :owner::text)
ORDER BY duly_webhooks.id
LIMIT :limit::bigint
