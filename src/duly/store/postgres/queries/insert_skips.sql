INSERT INTO duly.duly_history (
    id, schedule_id, revision, kind, window_at, since, windows, tenant, job, queue, priority, status, reason, attempt,
    max_attempts, fence, due_at, fired_at, finished_at, error
)
SELECT
    n.id, n.schedule_id, n.revision, 'window', n.window_at, n.since, n.windows, n.tenant, n.job, n.queue, 0, 'skipped',
    n.reason, 0, 0, 0, n.fired_at, n.fired_at, n.fired_at, n.detail
FROM unnest(
    :id::uuid[], :schedule_id::uuid[], :revision::int[], :window_at::bigint[], :since::bigint[], :windows::int[],
    :tenant::text[], :job::text[], :queue::text[], :reason::text[], :fired_at::bigint[], :detail::text[]
) AS n (id, schedule_id, revision, window_at, since, windows, tenant, job, queue, reason, fired_at, detail)
WHERE NOT EXISTS (SELECT FROM duly.duly_runs AS r WHERE r.id = n.id)
ON CONFLICT DO NOTHING
RETURNING id::text
