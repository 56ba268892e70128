INSERT INTO duly_dead_handlers (job, handler, queue, max_attempts, timeout_ms)
VALUES (:job, :handler, :queue, :max_attempts, :timeout_ms)
ON CONFLICT (job) DO UPDATE
SET handler = excluded.handler, queue = excluded.queue, max_attempts = excluded.max_attempts,
    timeout_ms = excluded.timeout_ms
