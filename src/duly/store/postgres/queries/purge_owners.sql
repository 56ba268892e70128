DELETE FROM duly.duly_owners WHERE run_id = ANY (:ids::uuid[])
