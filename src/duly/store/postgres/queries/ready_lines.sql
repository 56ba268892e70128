SELECT queue, priority, false FROM duly_lines
UNION ALL
SELECT DISTINCT queue, priority, true FROM duly_runs WHERE claimed_by IS NULL AND hold = 5
