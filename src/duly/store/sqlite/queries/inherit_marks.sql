INSERT INTO duly_marks (run_id, name, value)
SELECT :run_id, name, value FROM duly_marks WHERE run_id = :parent_id
ON CONFLICT DO NOTHING
