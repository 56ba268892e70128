DELETE FROM duly.duly_attempts AS a
WHERE a.run_id = ANY (:ids::uuid[]) AND a.outcome = 'snoozed'
  AND a.snoozes <= (SELECT max(n.snoozes) FROM duly.duly_attempts AS n WHERE n.run_id = a.run_id) - :keep::int
