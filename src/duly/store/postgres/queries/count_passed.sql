SELECT count(*)
FROM (
    SELECT FROM duly.duly_runs
    WHERE claimed_by IS NULL AND hold = 0
      AND queue = :queue::text AND priority = :priority::int AND due_at < :before::bigint
    LIMIT :most::bigint
) AS passed
