-- A run that goes on as a new one leaves it the place below its parent: that hears of the last end only.
INSERT INTO duly_children (run_id, parent_id, position)
SELECT :run_id, parent_id, position FROM duly_children WHERE run_id = :parent_id
ON CONFLICT DO NOTHING
