INSERT INTO duly_attempts (run_id, fence, attempt, outcome, error, started_at, ended_at, session)
VALUES (:run_id, :fence, :attempt, :outcome, :error, :started_at, :ended_at, :session)
ON CONFLICT DO NOTHING
