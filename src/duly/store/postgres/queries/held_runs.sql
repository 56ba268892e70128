SELECT id::text, fence, cancel_at FROM duly_runs WHERE claimed_by = :session::bigint
