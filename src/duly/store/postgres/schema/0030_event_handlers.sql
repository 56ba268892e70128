-- Which jobs and workflows an event starts; each start of an app writes those of its own code.
CREATE TABLE duly_event_handlers (
    event        text COLLATE "C" NOT NULL,
    job          text COLLATE "C" NOT NULL,
    queue        text COLLATE "C" NOT NULL,
    max_attempts int NOT NULL,
    timeout_ms   bigint,
    quiet_ms     bigint,
    most         int,
    within_ms    bigint,
    PRIMARY KEY (event, job)
);
CREATE INDEX duly_event_handlers_job ON duly_event_handlers (job);

-- The run that still takes events in, of a handler that waits for quiet or for more. Whoever adds one locks the row.
CREATE TABLE duly_gatherings (
    event  text COLLATE "C" NOT NULL,
    job    text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    owner  text COLLATE "C" NOT NULL,
    run_id uuid,
    n      int NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (event, job, tenant, owner)
);
CREATE INDEX duly_gatherings_at ON duly_gatherings (at);

-- Ids of events that were published, for as long as the same id is the same event.
CREATE TABLE duly_event_ids (
    tenant     text COLLATE "C" NOT NULL,
    owner      text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (tenant, owner, id)
);
CREATE INDEX duly_event_ids_expiry ON duly_event_ids (expires_at);
