INSERT INTO duly_event_handlers (event, job, queue, max_attempts, timeout_ms, quiet_ms, most, within_ms)
VALUES (:event, :job, :queue, :max_attempts, :timeout_ms, :quiet_ms, :most, :within_ms)
ON CONFLICT (event, job) DO UPDATE
SET queue = excluded.queue, max_attempts = excluded.max_attempts, timeout_ms = excluded.timeout_ms,
    quiet_ms = excluded.quiet_ms, most = excluded.most, within_ms = excluded.within_ms
