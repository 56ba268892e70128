DELETE FROM duly.duly_redrives WHERE run_id = ANY (:ids::uuid[])
