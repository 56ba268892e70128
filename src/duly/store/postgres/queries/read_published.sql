SELECT value FROM duly.duly_published WHERE run_id = :run_id::uuid AND name = :name::text
