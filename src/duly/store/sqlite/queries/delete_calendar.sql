DELETE FROM duly_calendars WHERE tenant = :tenant AND name = :name
