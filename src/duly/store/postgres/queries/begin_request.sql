-- One that has expired and is not purged yet makes room.
INSERT INTO duly.duly_requests (tenant, key, hash, expires_at)
VALUES (:tenant::text, :key::text, :hash::text, :expires_at::bigint)
ON CONFLICT (tenant, key) DO UPDATE
SET hash = excluded.hash, status = NULL, answer = NULL, expires_at = excluded.expires_at
WHERE duly_requests.expires_at <= :now::bigint
