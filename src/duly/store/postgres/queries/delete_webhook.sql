DELETE FROM duly.duly_webhooks WHERE id = :id::uuid
