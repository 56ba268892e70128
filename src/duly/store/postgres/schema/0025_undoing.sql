-- Since when a run has been told to undo what it did and to end as cancelled.
ALTER TABLE duly_runs ADD COLUMN undo_at bigint;

CREATE OR REPLACE VIEW duly_all_runs AS
SELECT
    id, schedule_id, revision, kind,
    CASE
        WHEN undo_at IS NOT NULL THEN 'cancelling' COLLATE "C"
        WHEN claimed_by IS NOT NULL THEN 'running' COLLATE "C"
        WHEN hold = 3 THEN 'dispatched' COLLATE "C"
        WHEN hold = 4 THEN 'suspended' COLLATE "C"
        ELSE 'pending' COLLATE "C"
    END AS status,
    NULL::text COLLATE "C" AS reason, tenant, window_at, NULL::bigint AS since, NULL::int AS windows, job, queue,
    priority, hold, due_at, attempt, max_attempts, fence, claimed_by AS session, fired_at, started_at,
    NULL::bigint AS finished_at, cancel_at IS NOT NULL AS cancel_requested, NULL::text AS error, payload,
    NULL::text AS result, NULL::bigint AS acked_at
FROM duly_runs
UNION ALL
SELECT
    id, schedule_id, revision, kind, status, reason, tenant, window_at, since, windows, job, queue, priority,
    0::smallint, due_at, attempt, max_attempts, fence, session, fired_at, started_at, finished_at, false, error,
    payload, result, acked_at
FROM duly_history;
