INSERT INTO duly.duly_tenants AS t (id, slots)
VALUES (:tenant::text, :count::bigint)
ON CONFLICT (id) DO UPDATE SET slots = t.slots + excluded.slots
RETURNING slots
