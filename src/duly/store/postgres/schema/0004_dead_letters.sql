-- Written for failed runs only: a redriven run has the time limit that it had before.
ALTER TABLE duly_history ADD COLUMN timeout_ms bigint;

-- One row per redrive: which death it answered, and the run that was made of it if the payload was another.
CREATE TABLE duly_redrives (
    run_id      uuid NOT NULL,
    fence       bigint NOT NULL,
    redriven_at bigint NOT NULL,
    redriven_by text,
    made_run    uuid,
    PRIMARY KEY (run_id, fence)
);
CREATE INDEX duly_redrives_made ON duly_redrives (made_run) WHERE made_run IS NOT NULL;

-- Which job is told of the death of a run, as the apps that know the job declared it.
CREATE TABLE duly_dead_handlers (
    job          text COLLATE "C" PRIMARY KEY,
    handler      text COLLATE "C" NOT NULL,
    queue        text COLLATE "C" NOT NULL,
    max_attempts int NOT NULL,
    timeout_ms   bigint
);
CREATE INDEX duly_dead_handlers_handler ON duly_dead_handlers (handler);

CREATE OR REPLACE VIEW duly_all_runs AS
SELECT
    id, schedule_id, revision, kind,
    CASE
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
