UPDATE duly_runs SET cancel_at = :now
WHERE id = :id AND cancel_at IS NULL
