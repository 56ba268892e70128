-- Keys are their owner's: what somebody runs under a key holds up nobody else, and tells nobody else of it.
ALTER TABLE duly_lanes ADD COLUMN owner TEXT NOT NULL DEFAULT '';

CREATE TABLE duly_uniques_owned (
    tenant     TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    owner      TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, owner, key)
) STRICT;
INSERT INTO duly_uniques_owned (tenant, key, run_id, expires_at) SELECT tenant, key, run_id, expires_at FROM duly_uniques;
DROP TABLE duly_uniques;
ALTER TABLE duly_uniques_owned RENAME TO duly_uniques;
CREATE INDEX duly_uniques_expiry ON duly_uniques (expires_at);
