INSERT INTO duly.duly_marks (run_id, name, value)
SELECT n.run_id, m.name, m.value
FROM unnest(:run_id::uuid[], :parent_id::uuid[]) AS n (run_id, parent_id)
JOIN duly.duly_marks AS m ON m.run_id = n.parent_id
ON CONFLICT DO NOTHING
