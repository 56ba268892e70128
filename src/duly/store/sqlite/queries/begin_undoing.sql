UPDATE duly_runs SET undo_at = :now WHERE id = :id AND undo_at IS NULL
RETURNING id
