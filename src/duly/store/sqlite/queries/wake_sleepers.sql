UPDATE duly_runs SET hold = 0
WHERE rowid IN (
    SELECT rowid FROM duly_runs
    WHERE hold = 4 AND claimed_by IS NULL AND due_at <= :now
    ORDER BY due_at
    LIMIT 1000
)
