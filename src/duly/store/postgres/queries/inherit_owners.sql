-- A run that is made of another belongs to whom that belonged.
INSERT INTO duly.duly_owners (run_id, owner)
SELECT n.made_run, o.owner
FROM unnest(:run_id::uuid[], :made_run::uuid[]) AS n (run_id, made_run)
JOIN duly.duly_owners AS o ON o.run_id = n.run_id
ON CONFLICT DO NOTHING
