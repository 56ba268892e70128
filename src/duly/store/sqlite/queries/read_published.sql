SELECT value FROM duly_published WHERE run_id = :run_id AND name = :name
