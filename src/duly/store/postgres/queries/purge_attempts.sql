DELETE FROM duly.duly_attempts WHERE run_id = ANY (:ids::uuid[])
