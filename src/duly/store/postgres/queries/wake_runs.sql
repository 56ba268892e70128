UPDATE duly.duly_runs SET hold = 0, due_at = :now::bigint
WHERE id = ANY (:ids::uuid[]) AND hold = 4 AND claimed_by IS NULL
RETURNING id::text
