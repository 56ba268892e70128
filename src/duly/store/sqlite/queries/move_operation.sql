UPDATE duly_operations SET
    status = :status, position = :position, matched = :matched, changed = :changed, refused = :refused,
    error = :error, updated_at = :now, finished_at = :finished_at, items = :items
WHERE id = :id
