-- Who changed what of a schedule, one row per change; nothing is written when a schedule is created or fires.
CREATE TABLE duly_changes (
    schedule_id TEXT    NOT NULL,
    number      INTEGER NOT NULL,
    made_at     INTEGER NOT NULL,
    made_by     TEXT,
    action      TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    fields      TEXT    NOT NULL,
    PRIMARY KEY (schedule_id, number)
) STRICT, WITHOUT ROWID;

-- What is done to many schedules, or makes many runs, step by step: what was asked, and how far it has come.
CREATE TABLE duly_operations (
    id          TEXT    NOT NULL PRIMARY KEY,
    kind        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    made_at     INTEGER NOT NULL,
    made_by     TEXT,
    status      TEXT    NOT NULL,
    position    TEXT,
    matched     INTEGER NOT NULL,
    changed     INTEGER NOT NULL,
    refused     INTEGER NOT NULL,
    error       TEXT,
    updated_at  INTEGER NOT NULL,
    finished_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX duly_operations_running ON duly_operations (updated_at) WHERE status = 'running';
CREATE INDEX duly_operations_finished ON duly_operations (finished_at) WHERE finished_at IS NOT NULL;

ALTER TABLE duly_meta ADD COLUMN firing_paused_by TEXT;
ALTER TABLE duly_meta ADD COLUMN firing_pause_reason TEXT;
ALTER TABLE duly_meta ADD COLUMN restored_at INTEGER;
ALTER TABLE duly_meta ADD COLUMN ticks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE duly_meta ADD COLUMN home TEXT;
