-- A child belongs to whom its parent belongs.
INSERT INTO duly_owners (run_id, owner)
SELECT :run_id, owner FROM duly_owned_runs WHERE id = :parent_id AND owner IS NOT NULL
ON CONFLICT DO NOTHING
