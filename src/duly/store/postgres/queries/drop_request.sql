DELETE FROM duly.duly_requests
WHERE tenant = :tenant::text AND key = :key::text AND hash = :hash::text AND status IS NULL
