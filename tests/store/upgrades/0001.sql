BEGIN TRANSACTION;
CREATE TABLE duly_attempts (
    run_id     TEXT    NOT NULL,
    fence      INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    outcome    TEXT    NOT NULL,
    error      TEXT    NOT NULL,
    started_at INTEGER,
    ended_at   INTEGER NOT NULL,
    session    INTEGER,
    PRIMARY KEY (run_id, fence)
) STRICT;
INSERT INTO "duly_attempts" VALUES('01a1e55b-bd3e-7768-8601-eb190fbad6ee',1,1,'failed','Fatal: no luck',1794849357132,1794849357138,1879261844841644979);
CREATE TABLE duly_cursors (
    schedule_id    TEXT    NOT NULL PRIMARY KEY,
    revision       INTEGER NOT NULL,
    status         TEXT    NOT NULL,
    window_at      INTEGER,
    next_window_at INTEGER,
    fire_at        INTEGER,
    slot           INTEGER NOT NULL,
    fired          INTEGER NOT NULL,
    failures       INTEGER NOT NULL,
    last_fired_at  INTEGER,
    error          TEXT,
    tenant         TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_cursors" VALUES('01a1e55b-bd18-7a9a-9f2f-755ac06c7489',1,'pending',NULL,1794898800000,1794898800000,1,0,0,NULL,NULL,'');
INSERT INTO "duly_cursors" VALUES('01a1e55b-bd22-7157-9bbe-53687e37ecde',2,'pending',NULL,1794852000000,1794852000000,2,0,0,NULL,NULL,'');
INSERT INTO "duly_cursors" VALUES('01a1e55b-bd24-7618-8d0f-e3f89e5ee78e',1,'pending',NULL,1798761600000,1798761600000,3,0,0,NULL,NULL,'');
INSERT INTO "duly_cursors" VALUES('01a1e55b-bd29-7d69-b626-f70f564e7720',1,'pending',NULL,1794849600000,NULL,4,0,0,NULL,NULL,'');
CREATE TABLE duly_history (
    id           TEXT    NOT NULL PRIMARY KEY,
    schedule_id  TEXT,
    revision     INTEGER,
    kind         TEXT    NOT NULL,
    window_at    INTEGER,
    since        INTEGER,
    windows      INTEGER,
    tenant       TEXT    NOT NULL,
    job          TEXT    NOT NULL,
    queue        TEXT    NOT NULL,
    priority     INTEGER NOT NULL,
    status       TEXT    NOT NULL,
    reason       TEXT,
    attempt      INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    fence        INTEGER NOT NULL,
    session      INTEGER,
    due_at       INTEGER NOT NULL,
    fired_at     INTEGER NOT NULL,
    started_at   INTEGER,
    finished_at  INTEGER NOT NULL,
    error        TEXT,
    payload      TEXT,
    result       TEXT,
    acked_at     INTEGER
) STRICT;
INSERT INTO "duly_history" VALUES('01a1e55b-bd37-7bae-9127-e69b98b2811a','01a1e55b-bd22-7157-9bbe-53687e37ecde',2,'manual',NULL,NULL,NULL,'','work','default',0,'completed',NULL,1,3,1,1879261844841644979,1794849357112,1794849357112,1794849357124,1794849357132,NULL,NULL,'{"done":"yes"}',NULL);
INSERT INTO "duly_history" VALUES('01a1e55b-bd3e-7768-8601-eb190fbad6ee',NULL,NULL,'direct',NULL,NULL,NULL,'','bad','default',0,'failed','fatal',1,3,1,1879261844841644979,1794849357124,1794849357124,1794849357132,1794849357138,'Fatal: no luck','{}',NULL,NULL);
CREATE TABLE duly_instances (
    session    INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    host       TEXT    NOT NULL,
    pid        INTEGER NOT NULL,
    roles      TEXT    NOT NULL,
    version    TEXT    NOT NULL,
    tz_version TEXT    NOT NULL,
    jobs       TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE duly_leases (
    role       TEXT    NOT NULL PRIMARY KEY,
    session    INTEGER NOT NULL,
    term       INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_leases" VALUES('janitor',1879261844841644979,1,1794849372085);
CREATE TABLE duly_meta (
    store_id         TEXT    NOT NULL,
    epoch            INTEGER NOT NULL,
    schema           INTEGER NOT NULL,
    tz_version       TEXT,
    firing_paused_at INTEGER
) STRICT;
INSERT INTO "duly_meta" VALUES('01a1e55b-bd02-7366-b2bc-77708168d289',1,1,NULL,NULL);
CREATE TABLE duly_revisions (
    schedule_id TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    payload     TEXT    NOT NULL,
    made_at     INTEGER NOT NULL,
    made_by     TEXT,
    PRIMARY KEY (schedule_id, revision)
) STRICT;
INSERT INTO "duly_revisions" VALUES('01a1e55b-bd18-7a9a-9f2f-755ac06c7489',1,'{"key":"nightly","shape":{"timing":{"kind":"cron","expr":"0 2 * * *","timezone":"America/New_York","dst_gap":"fire_after","dst_fold":"first","strict_fields":null},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{"n":1}',1794849357084,NULL);
INSERT INTO "duly_revisions" VALUES('01a1e55b-bd22-7157-9bbe-53687e37ecde',1,'{"key":"hourly","shape":{"timing":{"kind":"every","every_ms":3600000,"anchor":"epoch","anchor_ms":0,"after_completion":false},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{"text":"é"}',1794849357090,NULL);
INSERT INTO "duly_revisions" VALUES('01a1e55b-bd24-7618-8d0f-e3f89e5ee78e',1,'{"key":"later","shape":{"timing":{"kind":"once","at_ms":1798761600000,"on_past":"reject"},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{}',1794849357094,NULL);
INSERT INTO "duly_revisions" VALUES('01a1e55b-bd29-7d69-b626-f70f564e7720',1,'{"key":"paused","shape":{"timing":{"kind":"every","every_ms":300000,"anchor":"epoch","anchor_ms":0,"after_completion":false},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{}',1794849357099,NULL);
INSERT INTO "duly_revisions" VALUES('01a1e55b-bd22-7157-9bbe-53687e37ecde',2,'{"key":"hourly","shape":{"timing":{"kind":"every","every_ms":3600000,"anchor":"epoch","anchor_ms":0,"after_completion":false},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{"text":"è"}',1794849357108,NULL);
CREATE TABLE duly_runs (
    id           TEXT    NOT NULL PRIMARY KEY,
    schedule_id  TEXT,
    revision     INTEGER,
    kind         TEXT    NOT NULL,
    window_at    INTEGER,
    tenant       TEXT    NOT NULL,
    job          TEXT    NOT NULL,
    queue        TEXT    NOT NULL,
    priority     INTEGER NOT NULL,
    due_at       INTEGER NOT NULL,
    slot         INTEGER NOT NULL,
    hold         INTEGER NOT NULL DEFAULT 0,
    lane         TEXT,
    attempt      INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    fence        INTEGER NOT NULL DEFAULT 0,
    claimed_by   INTEGER,
    deadline_at  INTEGER,
    cancel_at    INTEGER,
    fired_at     INTEGER NOT NULL,
    started_at   INTEGER,
    timeout_ms   INTEGER,
    payload      TEXT
) STRICT;
INSERT INTO "duly_runs" VALUES('01a1e55b-bd58-7456-975c-69db2078ff7a',NULL,NULL,'direct',NULL,'','elsewhere','default',0,1794849357144,0,0,NULL,0,3,0,NULL,NULL,NULL,1794849357144,NULL,3600000,'{"n":2}');
CREATE TABLE duly_schedules (
    id                TEXT    NOT NULL PRIMARY KEY,
    key               TEXT    NOT NULL,
    name              TEXT    NOT NULL,
    tenant            TEXT    NOT NULL,
    description       TEXT,
    owner             TEXT,
    correlation_id    TEXT,
    client_request_id TEXT,
    tags              TEXT    NOT NULL,
    app               TEXT,
    revision          INTEGER NOT NULL,
    paused_at         INTEGER,
    paused_until      INTEGER,
    paused_by         TEXT,
    pause_reason      TEXT,
    created_at        INTEGER NOT NULL,
    created_by        TEXT,
    updated_at        INTEGER NOT NULL,
    ended_at          INTEGER,
    deleted_at        INTEGER,
    replaces          TEXT,
    replaced_by       TEXT,
    kind              TEXT    NOT NULL,
    job               TEXT    NOT NULL,
    topic             TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_schedules" VALUES('01a1e55b-bd18-7a9a-9f2f-755ac06c7489','nightly','nightly','',NULL,NULL,NULL,NULL,'[]',NULL,1,NULL,NULL,NULL,NULL,1794849357084,NULL,1794849357084,NULL,NULL,NULL,NULL,'cron','work',NULL);
INSERT INTO "duly_schedules" VALUES('01a1e55b-bd22-7157-9bbe-53687e37ecde','hourly','hourly','',NULL,NULL,NULL,NULL,'["a","b"]',NULL,2,NULL,NULL,NULL,NULL,1794849357090,NULL,1794849357108,NULL,NULL,NULL,NULL,'interval','work',NULL);
INSERT INTO "duly_schedules" VALUES('01a1e55b-bd24-7618-8d0f-e3f89e5ee78e','later','later','',NULL,NULL,NULL,NULL,'[]',NULL,1,NULL,NULL,NULL,NULL,1794849357094,NULL,1794849357094,NULL,NULL,NULL,NULL,'once','work',NULL);
INSERT INTO "duly_schedules" VALUES('01a1e55b-bd29-7d69-b626-f70f564e7720','paused','paused','',NULL,NULL,NULL,NULL,'[]',NULL,1,1794849357104,NULL,NULL,'not now',1794849357099,NULL,1794849357104,NULL,NULL,NULL,NULL,'interval','work',NULL);
CREATE TABLE duly_tenants (
    id    TEXT    NOT NULL PRIMARY KEY,
    slots INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_tenants" VALUES('',4);
CREATE UNIQUE INDEX duly_meta_one ON duly_meta ((1));
CREATE UNIQUE INDEX duly_schedules_key ON duly_schedules (tenant, key) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX duly_schedules_request ON duly_schedules (tenant, client_request_id)
    WHERE client_request_id IS NOT NULL;
CREATE INDEX duly_schedules_tenant ON duly_schedules (tenant, id) WHERE deleted_at IS NULL;
CREATE INDEX duly_schedules_owner ON duly_schedules (tenant, owner, id) WHERE deleted_at IS NULL AND owner IS NOT NULL;
CREATE INDEX duly_schedules_job ON duly_schedules (tenant, job, id) WHERE deleted_at IS NULL;
CREATE INDEX duly_schedules_paused ON duly_schedules (paused_until) WHERE paused_until IS NOT NULL;
CREATE INDEX duly_schedules_ended ON duly_schedules (ended_at) WHERE kind = 'once' AND ended_at IS NOT NULL;
CREATE INDEX duly_schedules_deleted ON duly_schedules (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX duly_cursors_due ON duly_cursors (fire_at, slot) WHERE fire_at IS NOT NULL;
CREATE INDEX duly_runs_ready ON duly_runs (queue, priority DESC, due_at, slot, job, claimed_by, hold)
    WHERE claimed_by IS NULL AND hold = 0;
CREATE INDEX duly_runs_held ON duly_runs (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX duly_runs_open ON duly_runs (schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_runs_laned ON duly_runs (schedule_id) WHERE hold = 1 AND schedule_id IS NOT NULL;
CREATE INDEX duly_runs_unknown ON duly_runs (job) WHERE hold = 2;
CREATE VIEW duly_lines (queue, priority) AS
WITH RECURSIVE
queues (queue) AS (
    SELECT min(queue) FROM duly_runs WHERE claimed_by IS NULL AND hold = 0
    UNION ALL
    SELECT (SELECT min(r.queue) FROM duly_runs AS r
            WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue > queues.queue)
    FROM queues WHERE queues.queue IS NOT NULL
),
lines (queue, priority) AS (
    SELECT queues.queue, (SELECT max(r.priority) FROM duly_runs AS r
                          WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = queues.queue)
    FROM queues WHERE queues.queue IS NOT NULL
    UNION ALL
    SELECT lines.queue, (SELECT max(r.priority) FROM duly_runs AS r
                         WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = lines.queue
                           AND r.priority < lines.priority)
    FROM lines WHERE lines.priority IS NOT NULL
)
SELECT queue, priority FROM lines WHERE priority IS NOT NULL;
CREATE INDEX duly_history_schedule ON duly_history (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_history_dead ON duly_history (id) WHERE status = 'failed' AND acked_at IS NULL;
COMMIT;
