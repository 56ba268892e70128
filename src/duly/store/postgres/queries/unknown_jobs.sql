-- A run that was lost before waits where it is: it needs no hold to be kept out of the others' way.
WITH live AS (
    SELECT roles::jsonb AS roles, jobs::jsonb AS jobs FROM duly.duly_instances WHERE expires_at >= :now::bigint
), held AS (
    SELECT job, count(*) AS runs
    FROM (
        SELECT job FROM duly.duly_runs WHERE hold = 2
        UNION ALL
        SELECT job
        FROM duly.duly_runs
        WHERE claimed_by IS NULL AND hold = 5 AND EXISTS (SELECT FROM live WHERE roles ? 'worker'::text)
    ) AS each
    GROUP BY job
)
SELECT job, runs
FROM held
WHERE NOT EXISTS (SELECT FROM live WHERE jobs ? job OR (job LIKE 'topic:%' AND jobs ? 'topic:*'::text))
ORDER BY job
