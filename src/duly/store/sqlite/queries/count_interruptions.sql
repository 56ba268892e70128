-- Since the run was last redriven: that gives it a fresh budget.
SELECT run_id, count(*)
FROM duly_attempts AS a
WHERE run_id IN (SELECT value FROM json_each(:ids)) AND outcome IN ('released', 'interrupted')
  AND fence > coalesce((SELECT max(d.fence) FROM duly_redrives AS d WHERE d.run_id = a.run_id), 0)
GROUP BY run_id
