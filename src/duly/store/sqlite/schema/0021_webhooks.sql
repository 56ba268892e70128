-- Who is to be told of events, and where. Secrets are kept as they are: messages are signed with them.
CREATE TABLE duly_webhooks (
    id              TEXT    NOT NULL PRIMARY KEY,
    tenant          TEXT,
    owner           TEXT,
    url             TEXT    NOT NULL,
    kind            TEXT    NOT NULL,
    events          TEXT    NOT NULL,
    schedule_id     TEXT,
    tag             TEXT,
    job             TEXT,
    description     TEXT,
    secrets         TEXT    NOT NULL,
    enabled         INTEGER NOT NULL,
    disabled_reason TEXT,
    failing_since   INTEGER,
    revision        INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    created_by      TEXT,
    updated_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX duly_webhooks_owner ON duly_webhooks (tenant, owner, id) WHERE owner IS NOT NULL;

-- The same the other way round: for an event of a schedule, an owner, a tenant or anybody, the webhooks that want it.
CREATE TABLE duly_interests (
    event      TEXT NOT NULL,
    subject    TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    PRIMARY KEY (event, subject, webhook_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX duly_interests_webhook ON duly_interests (webhook_id);

-- The names of events that some webhook wants: whoever has others to tell need not look for webhooks.
ALTER TABLE duly_watch ADD COLUMN wanted TEXT NOT NULL DEFAULT '[]';

-- Schedules whose fire is owed, as they were told: told once when it begins, and once when it is over.
CREATE TABLE duly_overdue (
    schedule_id TEXT    NOT NULL PRIMARY KEY,
    since       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
