SELECT id, fence, cancel_at FROM duly_runs
WHERE claimed_by = :session
ORDER BY id
