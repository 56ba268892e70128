SELECT id FROM duly_schedules
WHERE tenant = :tenant AND client_request_id = :client_request_id AND (:owner IS NULL OR owner = :owner)
