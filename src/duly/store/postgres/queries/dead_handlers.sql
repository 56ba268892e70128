-- A handler's own death tells nobody.
SELECT d.job, d.handler, d.queue, d.max_attempts, d.timeout_ms
FROM duly.duly_dead_handlers AS d
WHERE d.job = ANY (:jobs::text[])
  AND NOT EXISTS (SELECT FROM duly.duly_dead_handlers AS own WHERE own.handler = d.job)
