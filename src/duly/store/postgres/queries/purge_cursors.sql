DELETE FROM duly.duly_cursors WHERE schedule_id = ANY (:ids::uuid[])
