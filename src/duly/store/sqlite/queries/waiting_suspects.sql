-- Differs from postgres: no row locks, a write transaction is alone.
SELECT id, attempt, max_attempts
FROM duly_runs
WHERE claimed_by IS NULL AND hold = 5 AND queue = :queue AND priority = :priority AND due_at <= :now
  AND (job IN (SELECT value FROM json_each(:jobs))
    OR (job GLOB 'topic:*' AND 'topic:*' IN (SELECT value FROM json_each(:jobs))))
ORDER BY due_at, slot, id
LIMIT :limit
