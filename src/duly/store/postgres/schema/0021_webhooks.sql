-- Who is to be told of events, and where. Secrets are kept as they are: messages are signed with them.
CREATE TABLE duly_webhooks (
    id              uuid NOT NULL PRIMARY KEY,
    tenant          text COLLATE "C",
    owner           text COLLATE "C",
    url             text NOT NULL,
    kind            text NOT NULL,
    events          text NOT NULL,
    schedule_id     uuid,
    tag             text COLLATE "C",
    job             text COLLATE "C",
    description     text,
    secrets         text NOT NULL,
    enabled         boolean NOT NULL,
    disabled_reason text,
    failing_since   bigint,
    revision        int NOT NULL,
    created_at      bigint NOT NULL,
    created_by      text,
    updated_at      bigint NOT NULL
);

CREATE INDEX duly_webhooks_owner ON duly_webhooks (tenant, owner, id) WHERE owner IS NOT NULL;

-- The same the other way round: for an event of a schedule, an owner, a tenant or anybody, the webhooks that want it.
CREATE TABLE duly_interests (
    event      text COLLATE "C" NOT NULL,
    subject    text COLLATE "C" NOT NULL,
    webhook_id uuid NOT NULL,
    PRIMARY KEY (event, subject, webhook_id)
);

CREATE INDEX duly_interests_webhook ON duly_interests (webhook_id);

-- The names of events that some webhook wants: whoever has others to tell need not look for webhooks.
ALTER TABLE duly_watch ADD COLUMN wanted text NOT NULL DEFAULT '[]';

-- Schedules whose fire is owed, as they were told: told once when it begins, and once when it is over.
CREATE TABLE duly_overdue (
    schedule_id uuid   NOT NULL PRIMARY KEY,
    since       bigint NOT NULL
);
