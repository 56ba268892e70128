UPDATE duly.duly_operations SET
    status = :status::text, position = :position::uuid, matched = :matched::bigint, changed = :changed::bigint,
    refused = :refused::bigint, error = :error::text, updated_at = :now::bigint, finished_at = :finished_at::bigint,
    items = :items::text
WHERE id = :id::uuid
