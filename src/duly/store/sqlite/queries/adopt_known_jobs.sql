-- A job may be known again without a new session: a lease that ran out for a moment, a start that crossed the look above.
UPDATE duly_runs SET hold = 0
WHERE hold = 2 AND EXISTS (
    SELECT 1 FROM duly_instances AS i, json_each(i.jobs) AS j
    WHERE i.expires_at >= :now AND (j.value = job OR (j.value = 'topic:*' AND job GLOB 'topic:*'))
)
