-- Answers the id if it is new, or was forgotten.
INSERT INTO duly_event_ids (tenant, owner, id, expires_at)
VALUES (:tenant, :owner, :id, :expires_at)
ON CONFLICT (tenant, owner, id) DO UPDATE SET expires_at = excluded.expires_at
WHERE duly_event_ids.expires_at <= :now
RETURNING id
