-- Which jobs and workflows an event starts; each start of an app writes those of its own code.
CREATE TABLE duly_event_handlers (
    event        TEXT    NOT NULL,
    job          TEXT    NOT NULL,
    queue        TEXT    NOT NULL,
    max_attempts INTEGER NOT NULL,
    timeout_ms   INTEGER,
    quiet_ms     INTEGER,
    most         INTEGER,
    within_ms    INTEGER,
    PRIMARY KEY (event, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX duly_event_handlers_job ON duly_event_handlers (job);

-- The run that still takes events in, of a handler that waits for quiet or for more.
CREATE TABLE duly_gatherings (
    event  TEXT    NOT NULL,
    job    TEXT    NOT NULL,
    tenant TEXT    NOT NULL,
    owner  TEXT    NOT NULL,
    run_id TEXT,
    n      INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (event, job, tenant, owner)
) STRICT;
CREATE INDEX duly_gatherings_at ON duly_gatherings (at);

-- Ids of events that were published, for as long as the same id is the same event.
CREATE TABLE duly_event_ids (
    tenant     TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, id)
) STRICT;
CREATE INDEX duly_event_ids_expiry ON duly_event_ids (expires_at);
