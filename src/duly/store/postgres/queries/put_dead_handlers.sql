INSERT INTO duly.duly_dead_handlers AS d (job, handler, queue, max_attempts, timeout_ms)
SELECT *
FROM unnest(:job::text[], :handler::text[], :queue::text[], :max_attempts::int[], :timeout_ms::bigint[])
ON CONFLICT (job) DO UPDATE
SET handler = EXCLUDED.handler, queue = EXCLUDED.queue, max_attempts = EXCLUDED.max_attempts,
    timeout_ms = EXCLUDED.timeout_ms
WHERE (d.handler, d.queue, d.max_attempts, d.timeout_ms)
    IS DISTINCT FROM (EXCLUDED.handler, EXCLUDED.queue, EXCLUDED.max_attempts, EXCLUDED.timeout_ms)
