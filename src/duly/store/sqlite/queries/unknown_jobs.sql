SELECT job, count(*) FROM duly_runs
WHERE hold = 2
GROUP BY job
ORDER BY job
