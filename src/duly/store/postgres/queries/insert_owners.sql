INSERT INTO duly.duly_owners (run_id, owner)
SELECT n.run_id, n.owner FROM unnest(:run_id::uuid[], :owner::text[]) AS n (run_id, owner)
ON CONFLICT DO NOTHING
