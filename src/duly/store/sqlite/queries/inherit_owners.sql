-- A run that is made of another belongs to whom that belonged.
INSERT INTO duly_owners (run_id, owner)
SELECT :made_run, owner FROM duly_owners WHERE run_id = :run_id
ON CONFLICT DO NOTHING
