INSERT INTO duly_interests (event, subject, webhook_id)
VALUES (:event, :subject, :webhook_id)
ON CONFLICT DO NOTHING
