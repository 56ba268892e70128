INSERT INTO duly_lanes (id, tenant, owner, key, max_running, tickets, used_at)
VALUES (:id, :tenant, :owner, :key, :max_running, 0, :now)
ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at
RETURNING id, max_running, tickets
