SELECT event, job, queue, max_attempts, timeout_ms, quiet_ms, most, within_ms
FROM duly.duly_event_handlers
ORDER BY event, job
