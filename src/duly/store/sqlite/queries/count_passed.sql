SELECT count(*)
FROM (
    SELECT 1 FROM duly_runs
    WHERE claimed_by IS NULL AND hold = 0 AND queue = :queue AND priority = :priority AND due_at < :before
    LIMIT :most
)
