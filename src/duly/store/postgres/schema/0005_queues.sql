-- Queues that somebody has set up or paused. A claim that takes from a governed one locks its row, then counts.
CREATE TABLE duly_queues (
    name         text COLLATE "C" PRIMARY KEY,
    governed     boolean NOT NULL,
    max_running  int,
    rate         int,
    per_ms       bigint,
    window_at    bigint,
    used         bigint NOT NULL,
    paused_at    bigint,
    paused_by    text,
    pause_reason text,
    updated_at   bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- The queue makes the entries longer, not more: what a session holds of a queue is counted without touching the rows.
DROP INDEX duly_runs_held;
CREATE INDEX duly_runs_held ON duly_runs (claimed_by, queue) WHERE claimed_by IS NOT NULL;
