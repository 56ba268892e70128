DELETE FROM duly.duly_changes WHERE schedule_id = ANY (:ids::uuid[])
