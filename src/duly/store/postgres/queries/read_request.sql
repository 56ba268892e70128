SELECT hash, status, answer, expires_at FROM duly.duly_requests
WHERE tenant = :tenant::text AND key = :key::text
