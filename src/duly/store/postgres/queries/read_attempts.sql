-- What was kept of attempts that did not complete, and the newest one if it did or is under way.
SELECT a.attempt, a.outcome, a.error, a.started_at, a.ended_at, coalesce(i.name, e.name), a.fence, a.snoozes,
    a.error_type, a.error_location, a.stack, a.stack_truncated
FROM (
    SELECT fence, attempt, outcome, error, started_at, ended_at, session, snoozes, error_type, error_location, stack, stack_truncated
    FROM duly.duly_attempts
    WHERE run_id = :id::uuid
    UNION ALL
    SELECT fence, attempt, 'running', NULL, started_at, NULL, claimed_by, NULL, NULL, NULL, NULL, NULL
    FROM duly.duly_runs
    WHERE id = :id::uuid AND claimed_by IS NOT NULL
    UNION ALL
    SELECT fence, attempt, status, NULL, started_at, finished_at, session, NULL, NULL, NULL, NULL, NULL
    FROM duly.duly_history
    WHERE id = :id::uuid AND session IS NOT NULL AND status IN ('completed', 'cancelled')
      AND NOT EXISTS (SELECT FROM duly.duly_attempts AS n WHERE n.run_id = duly.duly_history.id AND n.fence = duly.duly_history.fence)
) AS a
LEFT JOIN duly.duly_instances AS i ON i.session = a.session
LEFT JOIN duly.duly_ended_instances AS e ON e.session = a.session
WHERE :owner::text IS NULL OR
  (SELECT w.owner FROM duly.duly_owned_runs AS w WHERE w.id = :id::uuid AND w.tenant = :tenant::text) = :owner::text
ORDER BY a.fence
