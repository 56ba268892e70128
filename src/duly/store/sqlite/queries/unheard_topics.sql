-- Set aside already, because nobody knows them: runs of topics, of which nobody is a listener either.
SELECT id, schedule_id, kind, job
FROM duly_runs
WHERE hold = 2 AND job GLOB 'topic:*' AND due_at <= :due_before
  AND EXISTS (
    SELECT 1 FROM duly_instances AS i, json_each(i.roles) AS role WHERE i.expires_at >= :now AND role.value = 'worker'
)
  AND NOT EXISTS (
    SELECT 1 FROM duly_instances AS i, json_each(i.jobs) AS j
    WHERE i.expires_at >= :now AND j.value IN (job, 'topic:*')
)
ORDER BY job, id
LIMIT :limit
