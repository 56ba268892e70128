-- What workflows record. A row per step; messages that wait; who waits for whose end; values that bodies show.
CREATE TABLE duly_steps (
    run_id   TEXT    NOT NULL,
    position INTEGER NOT NULL,
    seq      INTEGER,
    kind     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    status   TEXT    NOT NULL,
    attempt  INTEGER NOT NULL,
    due_at   INTEGER,
    result   TEXT,
    error    TEXT,
    log      TEXT,
    asked_at INTEGER NOT NULL,
    done_at  INTEGER,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX duly_steps_events ON duly_steps (name, run_id) WHERE kind = 'event' AND status = 'asked';

CREATE TABLE duly_inbox (
    run_id TEXT    NOT NULL,
    n      INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    body   TEXT,
    error  TEXT,
    at     INTEGER NOT NULL,
    taken  INTEGER NOT NULL,
    PRIMARY KEY (run_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE duly_children (
    run_id    TEXT    NOT NULL PRIMARY KEY,
    parent_id TEXT    NOT NULL,
    position  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX duly_children_parent ON duly_children (parent_id);

CREATE TABLE duly_published (
    run_id TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    value  TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX duly_runs_alarm ON duly_runs (due_at) WHERE hold = 4 AND claimed_by IS NULL;
