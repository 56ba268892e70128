-- Requests that came with a key of the client's own: asked again, they get the answer that is kept here. One without a
-- status was begun, and nobody knows yet what came of it.
CREATE TABLE duly_requests (
    tenant     text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    hash       text COLLATE "C" NOT NULL,
    status     int,
    answer     text,
    expires_at bigint NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX duly_requests_expiry ON duly_requests (expires_at);
