-- The end of a child that goes again has not been told yet.
DELETE FROM duly_inbox WHERE run_id = :run_id AND kind = 'child' AND name = CAST(:position AS TEXT)
