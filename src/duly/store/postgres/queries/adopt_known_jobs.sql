-- A job may be known again without a new session: a lease that ran out for a moment, a start that crossed the look above.
UPDATE duly_runs SET hold = 0
WHERE hold = 2 AND EXISTS (
    SELECT FROM duly_instances AS i
    WHERE i.expires_at >= :now::bigint AND (i.jobs::jsonb ? job OR (job LIKE 'topic:%' AND i.jobs::jsonb ? 'topic:*'))
)
