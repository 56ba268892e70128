-- A run that was lost before waits where it is: it needs no hold to be kept out of the others' way.
WITH live AS (
    SELECT roles::jsonb AS roles, jobs::jsonb AS jobs FROM duly_instances WHERE expires_at >= :now::bigint
)
SELECT job, count(*)
FROM (
    SELECT job FROM duly_runs WHERE hold = 2
    UNION ALL
    SELECT job
    FROM duly_runs
    WHERE claimed_by IS NULL AND hold = 5
      AND EXISTS (SELECT FROM live WHERE roles ? 'worker')
      AND NOT EXISTS (SELECT FROM live WHERE jobs ? job OR (job LIKE 'topic:%' AND jobs ? 'topic:*'))
) AS unknown
GROUP BY job
ORDER BY job
