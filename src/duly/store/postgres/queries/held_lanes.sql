-- The lanes that have waited longest first, so that healthy ones cannot hide a stuck one for ever.
SELECT schedule_id::text FROM duly.duly_runs
WHERE hold = 1 AND schedule_id IS NOT NULL
GROUP BY schedule_id
ORDER BY min(due_at), schedule_id
LIMIT :limit::bigint
