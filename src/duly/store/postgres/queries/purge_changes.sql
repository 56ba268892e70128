DELETE FROM duly_changes WHERE schedule_id = ANY (:ids::uuid[])
