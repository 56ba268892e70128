-- Answers the id if it is new, or was forgotten; two that come at once wait for each other.
INSERT INTO duly.duly_event_ids AS e (tenant, owner, id, expires_at)
VALUES (:tenant::text, :owner::text, :id::text, :expires_at::bigint)
ON CONFLICT (tenant, owner, id) DO UPDATE SET expires_at = excluded.expires_at
WHERE e.expires_at <= :now::bigint
RETURNING id
