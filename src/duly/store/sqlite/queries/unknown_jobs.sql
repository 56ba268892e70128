-- A run that was lost before waits where it is: it needs no hold to be kept out of the others' way.
SELECT held.job, held.runs
FROM (
    SELECT job, count(*) AS runs FROM (
        SELECT job FROM duly_runs WHERE hold = 2
        UNION ALL
        SELECT job FROM duly_runs
        WHERE claimed_by IS NULL AND hold = 5 AND EXISTS (
            SELECT 1 FROM duly_instances AS i, json_each(i.roles) AS role
            WHERE i.expires_at >= :now AND role.value = 'worker'
        )
    )
    GROUP BY job
) AS held
WHERE NOT EXISTS (
    SELECT 1 FROM duly_instances AS i, json_each(i.jobs) AS j
    WHERE i.expires_at >= :now AND (j.value = held.job OR (j.value = 'topic:*' AND held.job GLOB 'topic:*'))
)
ORDER BY held.job
