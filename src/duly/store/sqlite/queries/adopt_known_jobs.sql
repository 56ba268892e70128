-- A job may be known again without a new session: a lease that ran out for a moment, a start that crossed the look above.
UPDATE duly_runs SET hold = 0
WHERE rowid IN (
    SELECT rowid FROM duly_runs
    WHERE hold = 2 AND job IN (
        SELECT known.job FROM (SELECT DISTINCT job FROM duly_runs WHERE hold = 2) AS known
        WHERE EXISTS (
            SELECT 1 FROM duly_instances AS i, json_each(i.jobs) AS j
            WHERE i.expires_at >= :now AND (j.value = known.job OR (j.value = 'topic:*' AND known.job GLOB 'topic:*'))
        )
    )
    LIMIT :limit
)
