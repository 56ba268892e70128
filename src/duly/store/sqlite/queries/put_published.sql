INSERT INTO duly_published (run_id, name, value, at)
VALUES (:run_id, :name, :value, :now)
ON CONFLICT (run_id, name) DO UPDATE SET value = excluded.value, at = excluded.at
