-- What was kept of attempts that did not complete, and the newest one if it did or is under way.
SELECT a.attempt, a.outcome, a.error, a.started_at, a.ended_at, coalesce(i.name, e.name), a.fence, a.snoozes,
    a.error_type, a.error_location, a.stack, a.stack_truncated
FROM (
    SELECT fence, attempt, outcome, error, started_at, ended_at, session, snoozes, error_type, error_location, stack, stack_truncated
    FROM duly_attempts
    WHERE run_id = :id
    UNION ALL
    SELECT fence, attempt, 'running', NULL, started_at, NULL, claimed_by, NULL, NULL, NULL, NULL, NULL
    FROM duly_runs
    WHERE id = :id AND claimed_by IS NOT NULL
    UNION ALL
    SELECT fence, attempt, status, NULL, started_at, finished_at, session, NULL, NULL, NULL, NULL, NULL
    FROM duly_history
    WHERE id = :id AND session IS NOT NULL AND +status IN ('completed', 'cancelled')
      AND NOT EXISTS (SELECT 1 FROM duly_attempts AS n WHERE n.run_id = duly_history.id AND n.fence = duly_history.fence)
) AS a
LEFT JOIN duly_instances AS i ON i.session = a.session
LEFT JOIN duly_ended_instances AS e ON e.session = a.session
WHERE :owner IS NULL OR (SELECT w.owner FROM duly_owned_runs AS w WHERE w.id = :id AND w.tenant = :tenant) = :owner
ORDER BY a.fence
