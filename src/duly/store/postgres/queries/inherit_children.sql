-- A run that goes on as a new one leaves it the place below its parent: that hears of the last end only.
INSERT INTO duly.duly_children (run_id, parent_id, position)
SELECT n.run_id, c.parent_id, c.position
FROM unnest(:run_id::uuid[], :parent_id::uuid[]) AS n (run_id, parent_id)
JOIN duly.duly_children AS c ON c.run_id = n.parent_id
ON CONFLICT DO NOTHING
