-- Requests that came with a key of the client's own: asked again, they get the answer that is kept here. One without a
-- status was begun, and nobody knows yet what came of it.
CREATE TABLE duly_requests (
    tenant     TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    hash       TEXT    NOT NULL,
    status     INTEGER,
    answer     TEXT,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;

CREATE INDEX duly_requests_expiry ON duly_requests (expires_at);
