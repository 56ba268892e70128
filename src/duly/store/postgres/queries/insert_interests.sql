INSERT INTO duly.duly_interests (event, subject, webhook_id)
SELECT n.event, n.subject, n.webhook_id
FROM unnest(:event::text[], :subject::text[], :webhook_id::uuid[]) AS n (event, subject, webhook_id)
ON CONFLICT DO NOTHING
