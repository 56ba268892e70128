DELETE FROM duly.duly_schedules WHERE id = ANY (:ids::uuid[])
