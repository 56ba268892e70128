-- Since the run was last redriven: that gives it a fresh budget.
SELECT a.run_id::text, count(*)::int
FROM duly.duly_attempts AS a
WHERE a.run_id = ANY (:ids::uuid[]) AND a.outcome IN ('released', 'interrupted')
  AND a.fence > coalesce((SELECT max(d.fence) FROM duly.duly_redrives AS d WHERE d.run_id = a.run_id), 0)
GROUP BY a.run_id
