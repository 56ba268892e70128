SELECT id::text
FROM duly_schedules
WHERE tenant = :tenant::text AND client_request_id = :client_request_id::text
