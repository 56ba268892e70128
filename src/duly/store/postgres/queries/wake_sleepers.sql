UPDATE duly.duly_runs SET hold = 0
WHERE id = ANY (ARRAY(
    SELECT id
    FROM duly.duly_runs
    WHERE hold = 4 AND claimed_by IS NULL AND due_at <= :now::bigint
    ORDER BY due_at
    LIMIT 1000
    FOR UPDATE SKIP LOCKED
))
