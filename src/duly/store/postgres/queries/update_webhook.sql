UPDATE duly.duly_webhooks SET
    url = :url::text, kind = :kind::text, events = :events::text, schedule_id = :schedule_id::uuid, tag = :tag::text,
    job = :job::text, description = :description::text, secrets = :secrets::text, enabled = :enabled::boolean,
    disabled_reason = :disabled_reason::text, failing_since = :failing_since::bigint, revision = :revision::int,
    updated_at = :updated_at::bigint
WHERE id = :id::uuid
