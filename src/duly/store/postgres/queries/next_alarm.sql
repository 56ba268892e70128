SELECT min(due_at) FROM duly.duly_runs WHERE hold = 4 AND claimed_by IS NULL
