SELECT id::text, attempt, max_attempts
FROM duly.duly_runs
WHERE claimed_by IS NULL AND hold = 5
  AND queue = :queue::text AND priority = :priority::int AND due_at <= :now::bigint
  AND (job = ANY (:jobs::text[]) OR (job LIKE 'topic:%' AND 'topic:*' = ANY (:jobs::text[])))
ORDER BY due_at, slot, id
LIMIT :limit::bigint
FOR UPDATE SKIP LOCKED
