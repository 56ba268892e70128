INSERT INTO duly_children (run_id, parent_id, position)
VALUES (:run_id, :parent_id, :position)
ON CONFLICT DO NOTHING
