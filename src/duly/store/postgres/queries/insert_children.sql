INSERT INTO duly.duly_children (run_id, parent_id, position)
SELECT * FROM unnest(:run_id::uuid[], :parent_id::uuid[], :position::bigint[])
ON CONFLICT DO NOTHING
