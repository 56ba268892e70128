UPDATE duly_runs SET hold = 0
WHERE hold = 4 AND claimed_by IS NULL AND due_at <= :now
