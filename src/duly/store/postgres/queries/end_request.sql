-- The first answer stays. The row may be gone, where another instance was refused the same request.
INSERT INTO duly.duly_requests (tenant, key, hash, status, answer, expires_at)
VALUES (:tenant::text, :key::text, :hash::text, :status::int, :answer::text, :expires_at::bigint)
ON CONFLICT (tenant, key) DO UPDATE
SET status = excluded.status, answer = excluded.answer
WHERE duly_requests.status IS NULL AND duly_requests.hash = excluded.hash
