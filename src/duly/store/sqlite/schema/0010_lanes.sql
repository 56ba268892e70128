-- Singleton keys that runs were enqueued with: how many may go at once.
CREATE TABLE duly_lanes (
    id          TEXT    NOT NULL PRIMARY KEY,
    tenant      TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    max_running INTEGER NOT NULL,
    tickets     INTEGER NOT NULL,
    used_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX duly_lanes_used ON duly_lanes (used_at);

-- Only runs of a singleton key have an entry here: those of schedules find their lane by the schedule.
CREATE INDEX duly_runs_singleton ON duly_runs (lane, hold, slot) WHERE schedule_id IS NULL AND lane IS NOT NULL;

-- Written for failed runs of a singleton key only: a redriven one waits in the lane that it was in.
ALTER TABLE duly_history ADD COLUMN lane TEXT;
CREATE INDEX duly_history_singleton ON duly_history (lane) WHERE lane IS NOT NULL;

-- Keys of which one run may be open, and until when the run that was enqueued last keeps it also after its end.
CREATE TABLE duly_uniques (
    tenant     TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;
CREATE INDEX duly_uniques_expiry ON duly_uniques (expires_at);
