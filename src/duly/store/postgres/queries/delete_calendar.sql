DELETE FROM duly.duly_calendars WHERE tenant = :tenant::text AND name = :name::text
