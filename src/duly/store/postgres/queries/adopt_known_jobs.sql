-- A job may be known again without a new session: a lease that ran out for a moment, a start that crossed the look above.
UPDATE duly_runs SET hold = 0
WHERE hold = 2 AND job IN (
    SELECT jsonb_array_elements_text(jobs::jsonb) FROM duly_instances WHERE expires_at >= :now::bigint
)
