-- Queues that somebody has set up or paused. A claim asks here how much it may take from a governed one.
CREATE TABLE duly_queues (
    name         TEXT    NOT NULL PRIMARY KEY,
    governed     INTEGER NOT NULL,
    max_running  INTEGER,
    rate         INTEGER,
    per_ms       INTEGER,
    window_at    INTEGER,
    used         INTEGER NOT NULL,
    paused_at    INTEGER,
    paused_by    TEXT,
    pause_reason TEXT,
    updated_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The queue makes the entries longer, not more: what a session holds of a queue is counted without touching the rows.
DROP INDEX duly_runs_held;
CREATE INDEX duly_runs_held ON duly_runs (claimed_by, queue) WHERE claimed_by IS NOT NULL;
