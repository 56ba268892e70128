DELETE FROM duly_interests WHERE webhook_id = :id::uuid
