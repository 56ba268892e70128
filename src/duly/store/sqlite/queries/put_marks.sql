INSERT INTO duly_marks (run_id, name, value) VALUES (:run_id, :name, :value)
ON CONFLICT (run_id, name) DO UPDATE SET value = excluded.value
