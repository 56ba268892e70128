SELECT id::text, fence, cancel_at FROM duly.duly_runs WHERE claimed_by = :session::bigint
