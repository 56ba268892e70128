INSERT INTO duly_owners (run_id, owner)
VALUES (:run_id, :owner)
ON CONFLICT DO NOTHING
