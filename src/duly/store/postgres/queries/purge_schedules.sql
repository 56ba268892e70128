DELETE FROM duly_schedules WHERE id = ANY (:ids::uuid[])
