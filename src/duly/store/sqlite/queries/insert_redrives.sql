INSERT INTO duly_redrives (run_id, fence, redriven_at, redriven_by, made_run)
VALUES (:run_id, :fence, :now, :redriven_by, :made_run)
ON CONFLICT DO NOTHING
