DELETE FROM duly_requests
WHERE tenant = :tenant AND key = :key AND hash = :hash AND status IS NULL
