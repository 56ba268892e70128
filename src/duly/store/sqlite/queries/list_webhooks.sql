-- Every id sorts after nothing; a plain condition lets the search start where the page before ended.
SELECT
    id, tenant, owner, url, kind, events, schedule_id, tag, job, description, secrets, enabled, disabled_reason,
    failing_since, revision, created_at, created_by, updated_at
FROM duly_webhooks
WHERE :owner IS NULL AND id > ifnull(:after, '')
  AND (:tenant IS NULL OR tenant = :tenant)
UNION ALL
SELECT
    id, tenant, owner, url, kind, events, schedule_id, tag, job, description, secrets, enabled, disabled_reason,
    failing_since, revision, created_at, created_by, updated_at
FROM duly_webhooks
WHERE :owner IS NOT NULL AND tenant = :tenant AND owner = :owner AND id > ifnull(:after, '')
ORDER BY id
LIMIT :limit
