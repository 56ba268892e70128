DELETE FROM duly.duly_interests WHERE webhook_id = :id::uuid
