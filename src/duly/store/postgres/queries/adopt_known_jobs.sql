-- A job may be known again without a new session: a lease that ran out for a moment, a start that crossed the look above.
UPDATE duly.duly_runs SET hold = 0
WHERE id = ANY (ARRAY(
    SELECT r.id
    FROM (SELECT DISTINCT job FROM duly.duly_runs WHERE hold = 2) AS held
    JOIN duly.duly_runs AS r ON r.job = held.job AND r.hold = 2
    WHERE EXISTS (
        SELECT FROM duly.duly_instances AS i
        WHERE i.expires_at >= :now::bigint
          AND (i.jobs::jsonb ? held.job OR (held.job LIKE 'topic:%' AND i.jobs::jsonb ? 'topic:*'::text))
    )
    LIMIT :limit::bigint
    FOR UPDATE OF r SKIP LOCKED
))
