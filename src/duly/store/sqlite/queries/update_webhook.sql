UPDATE duly_webhooks SET
    url = :url, kind = :kind, events = :events, schedule_id = :schedule_id, tag = :tag, job = :job,
    description = :description, secrets = :secrets, enabled = :enabled, disabled_reason = :disabled_reason,
    failing_since = :failing_since, revision = :revision, updated_at = :updated_at
WHERE id = :id
