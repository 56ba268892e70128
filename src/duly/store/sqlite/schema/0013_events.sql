-- What happened, for whoever watches: written by the transaction that did it, and only while somebody does. A row gets
-- its number when it is committed for all to see, from a reader: the order of the numbers is the one that readers keep to.
CREATE TABLE duly_events (
    seq         INTEGER PRIMARY KEY,
    number      INTEGER,
    at          INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    tenant      TEXT,
    owner       TEXT,
    schedule_id TEXT,
    key         TEXT,
    run_id      TEXT,
    job         TEXT,
    attempt     INTEGER,
    reason      TEXT,
    error       TEXT
) STRICT;

CREATE UNIQUE INDEX duly_events_number ON duly_events (number) WHERE number IS NOT NULL;

CREATE INDEX duly_events_new ON duly_events (seq) WHERE number IS NULL;

-- One row: since when and until when somebody watches, the newest number given, and the newest that is gone.
CREATE TABLE duly_watch (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    since   INTEGER NOT NULL,
    until   INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    gone    INTEGER NOT NULL
) STRICT;

INSERT INTO duly_watch (one, since, until, settled, last, gone) VALUES (1, 0, 0, 1, 0, 0);
