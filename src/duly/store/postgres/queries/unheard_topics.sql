-- Set aside already, because nobody knows them: runs of topics, of which nobody is a listener either.
WITH live AS (
    SELECT roles::jsonb AS roles, jobs::jsonb AS jobs FROM duly.duly_instances WHERE expires_at >= :now::bigint
)
SELECT id::text, schedule_id::text, kind, job
FROM duly.duly_runs
WHERE hold = 2 AND job LIKE 'topic:%' AND due_at <= :due_before::bigint
  AND EXISTS (SELECT FROM live WHERE roles ? 'worker'::text)
  AND NOT EXISTS (SELECT FROM live WHERE jobs ? job OR jobs ? 'topic:*'::text)
ORDER BY job, id
LIMIT :limit::bigint
