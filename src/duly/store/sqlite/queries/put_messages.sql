INSERT INTO duly_inbox (run_id, n, kind, name, body, error, at, taken)
VALUES (:run_id, :n, :kind, :name, :body, :error, :now, 0)
