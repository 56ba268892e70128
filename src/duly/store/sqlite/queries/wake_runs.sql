UPDATE duly_runs SET hold = 0, due_at = :now
WHERE id IN (SELECT value FROM json_each(:ids)) AND hold = 4 AND claimed_by IS NULL
RETURNING id
