-- Only if nobody changed it meanwhile.
UPDATE duly_webhooks SET secrets = :secrets
WHERE id = :id AND secrets IS :was_secrets
