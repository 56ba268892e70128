SELECT id::text
FROM duly.duly_schedules
WHERE tenant = :tenant::text AND client_request_id = :client_request_id::text
  AND (:owner::text IS NULL OR owner = :owner::text)
