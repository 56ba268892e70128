SELECT queue, priority, 0 FROM duly_lines
UNION ALL
SELECT DISTINCT queue, priority, 1 FROM duly_runs WHERE claimed_by IS NULL AND hold = 5
