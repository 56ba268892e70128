UPDATE duly.duly_runs SET undo_at = :now::bigint WHERE id = :id::uuid AND undo_at IS NULL
RETURNING id::text
