-- What happened, for whoever watches: written by the transaction that did it, and only while somebody does. A row gets
-- its number when it is committed for all to see, from a reader: the order of the numbers is the one that readers keep to.
CREATE TABLE duly_events (
    seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number      bigint,
    at          bigint NOT NULL,
    name        text COLLATE "C" NOT NULL,
    tenant      text COLLATE "C",
    owner       text COLLATE "C",
    schedule_id uuid,
    key         text COLLATE "C",
    run_id      uuid,
    job         text COLLATE "C",
    attempt     int,
    reason      text,
    error       text
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE UNIQUE INDEX duly_events_number ON duly_events (number) WHERE number IS NOT NULL;
CREATE INDEX duly_events_new ON duly_events (seq) WHERE number IS NULL;

-- One row: since when and until when somebody watches, the newest number given, and the newest that is gone.
CREATE TABLE duly_watch (
    since   bigint NOT NULL,
    until   bigint NOT NULL,
    settled boolean NOT NULL,
    last    bigint NOT NULL,
    gone    bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
CREATE UNIQUE INDEX duly_watch_one ON duly_watch ((true));
INSERT INTO duly_watch (since, until, settled, last, gone) VALUES (0, 0, true, 0, 0);
