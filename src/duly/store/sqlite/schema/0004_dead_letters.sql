-- Written for failed runs only: a redriven run has the time limit that it had before.
ALTER TABLE duly_history ADD COLUMN timeout_ms INTEGER;

-- One row per redrive: which death it answered, and the run that was made of it if the payload was another.
CREATE TABLE duly_redrives (
    run_id      TEXT    NOT NULL,
    fence       INTEGER NOT NULL,
    redriven_at INTEGER NOT NULL,
    redriven_by TEXT,
    made_run    TEXT,
    PRIMARY KEY (run_id, fence)
) STRICT;

CREATE INDEX duly_redrives_made ON duly_redrives (made_run) WHERE made_run IS NOT NULL;

-- Which job is told of the death of a run, as the apps that know the job declared it.
CREATE TABLE duly_dead_handlers (
    job          TEXT    NOT NULL PRIMARY KEY,
    handler      TEXT    NOT NULL,
    queue        TEXT    NOT NULL,
    max_attempts INTEGER NOT NULL,
    timeout_ms   INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX duly_dead_handlers_handler ON duly_dead_handlers (handler);
