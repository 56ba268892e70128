UPDATE duly_runs SET
    claimed_by = NULL, deadline_at = NULL, due_at = :due_at, attempt = :attempt, max_attempts = :max_attempts,
    hold = coalesce(:hold, hold)
WHERE id = :id AND fence = :fence AND claimed_by IS :session AND (claimed_by IS NOT NULL OR hold = 3)
RETURNING id
