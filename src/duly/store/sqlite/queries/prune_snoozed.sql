DELETE FROM duly_attempts
WHERE run_id IN (SELECT value FROM json_each(:ids)) AND outcome = 'snoozed'
  AND snoozes <= (SELECT max(n.snoozes) FROM duly_attempts AS n WHERE n.run_id = duly_attempts.run_id) - :keep
