-- A child belongs to whom its parent belongs.
INSERT INTO duly.duly_owners (run_id, owner)
SELECT n.run_id, o.owner
FROM unnest(:run_id::uuid[], :parent_id::uuid[]) AS n (run_id, parent_id)
JOIN duly.duly_owned_runs AS o ON o.id = n.parent_id
WHERE o.owner IS NOT NULL
ON CONFLICT DO NOTHING
