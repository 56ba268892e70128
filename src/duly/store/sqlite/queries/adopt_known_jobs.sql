-- A job may be known again without a new session: a lease that ran out for a moment, a start that crossed the look above.
UPDATE duly_runs SET hold = 0
WHERE hold = 2 AND job IN (
    SELECT j.value FROM duly_instances AS i, json_each(i.jobs) AS j WHERE i.expires_at >= :now
)
