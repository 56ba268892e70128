INSERT INTO duly_tenants (id, slots)
VALUES (:tenant, :count)
ON CONFLICT (id) DO UPDATE SET slots = slots + excluded.slots
RETURNING slots
