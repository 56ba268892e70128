DELETE FROM duly_webhooks WHERE id = :id
