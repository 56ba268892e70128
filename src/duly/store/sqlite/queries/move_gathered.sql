UPDATE duly_runs SET payload = :payload, due_at = :due_at, window_at = :due_at
WHERE id = :id
