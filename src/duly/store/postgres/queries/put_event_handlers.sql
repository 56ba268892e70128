INSERT INTO duly.duly_event_handlers AS e (event, job, queue, max_attempts, timeout_ms, quiet_ms, most, within_ms)
SELECT *
FROM unnest(
    :event::text[], :job::text[], :queue::text[], :max_attempts::int[], :timeout_ms::bigint[], :quiet_ms::bigint[],
    :most::int[], :within_ms::bigint[]
)
ON CONFLICT (event, job) DO UPDATE
SET queue = EXCLUDED.queue, max_attempts = EXCLUDED.max_attempts, timeout_ms = EXCLUDED.timeout_ms,
    quiet_ms = EXCLUDED.quiet_ms, most = EXCLUDED.most, within_ms = EXCLUDED.within_ms
WHERE (e.queue, e.max_attempts, e.timeout_ms, e.quiet_ms, e.most, e.within_ms) IS DISTINCT FROM
    (EXCLUDED.queue, EXCLUDED.max_attempts, EXCLUDED.timeout_ms, EXCLUDED.quiet_ms, EXCLUDED.most, EXCLUDED.within_ms)
