SELECT hash, status, answer, expires_at FROM duly_requests
WHERE tenant = :tenant AND key = :key
