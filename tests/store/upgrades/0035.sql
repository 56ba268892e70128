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
INSERT INTO "duly_attempts" VALUES('01a1e55d-1380-7268-bfc5-6590890c70e3',1,1,'failed','Fatal: no luck',1794849444741,1794849444745,1421533127123018030);
CREATE TABLE duly_calendars (
    tenant      TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    id          TEXT    NOT NULL UNIQUE,
    description TEXT,
    body        TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    created_by  TEXT,
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE duly_changes (
    schedule_id TEXT    NOT NULL,
    number      INTEGER NOT NULL,
    made_at     INTEGER NOT NULL,
    made_by     TEXT,
    action      TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    fields      TEXT    NOT NULL,
    PRIMARY KEY (schedule_id, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_changes" VALUES('01a1e55d-135f-7706-af14-cfe5ca113526',1,1794849444724,NULL,'edit',2,'[["payload",{"text":"é"},{"text":"è"}]]');
INSERT INTO "duly_changes" VALUES('01a1e55d-1368-7106-9447-a145ac6a13eb',1,1794849444714,NULL,'pause',1,'[["paused_reason",null,"not now"],["enabled",true,false]]');
CREATE TABLE duly_children (
    run_id    TEXT    NOT NULL PRIMARY KEY,
    parent_id TEXT    NOT NULL,
    position  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
INSERT INTO "duly_cursors" VALUES('01a1e55d-135b-7300-a9a0-07c271b46d60',1,'pending',NULL,1794898800000,1794898800000,1,0,0,NULL,NULL,'');
INSERT INTO "duly_cursors" VALUES('01a1e55d-135f-7706-af14-cfe5ca113526',2,'pending',NULL,1794852000000,1794852000000,2,0,0,NULL,NULL,'');
INSERT INTO "duly_cursors" VALUES('01a1e55d-1365-7023-8a49-2c454e40cdca',1,'pending',NULL,1798761600000,1798761600000,3,0,0,NULL,NULL,'');
INSERT INTO "duly_cursors" VALUES('01a1e55d-1368-7106-9447-a145ac6a13eb',1,'pending',NULL,1794849600000,NULL,4,0,0,NULL,NULL,'');
CREATE TABLE duly_dead_handlers (
    job          TEXT    NOT NULL PRIMARY KEY,
    handler      TEXT    NOT NULL,
    queue        TEXT    NOT NULL,
    max_attempts INTEGER NOT NULL,
    timeout_ms   INTEGER
) STRICT, WITHOUT ROWID;
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
CREATE TABLE duly_event_ids (
    tenant     TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, id)
) STRICT;
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
, timeout_ms INTEGER, lane TEXT) STRICT;
INSERT INTO "duly_history" VALUES('01a1e55d-1376-7138-baa7-d62f2e20d06f','01a1e55d-135f-7706-af14-cfe5ca113526',2,'manual',1794849444726,NULL,NULL,'','work','default',0,'completed',NULL,1,3,1,1421533127123018030,1794849444726,1794849444726,1794849444737,1794849444742,NULL,NULL,'{"done":"yes"}',NULL,NULL,NULL);
INSERT INTO "duly_history" VALUES('01a1e55d-1380-7268-bfc5-6590890c70e3',NULL,NULL,'direct',1794849444738,NULL,NULL,'','bad','default',0,'failed','fatal',1,3,1,1421533127123018030,1794849444738,1794849444738,1794849444741,1794849444745,'Fatal: no luck','{}',NULL,NULL,3600000,NULL);
CREATE TABLE duly_inbox (
    run_id TEXT    NOT NULL,
    n      INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    body   TEXT,
    error  TEXT,
    at     INTEGER NOT NULL,
    taken  INTEGER NOT NULL,
    PRIMARY KEY (run_id, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_inbox" VALUES('01a1e55d-138c-7203-963e-ce6764c1e0ce',1,'signal','early','"kept"',NULL,1794849444750,0);
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
, skew_ms INTEGER) STRICT;
CREATE TABLE duly_interests (
    event      TEXT NOT NULL,
    subject    TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    PRIMARY KEY (event, subject, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE duly_keys (
    id           TEXT    NOT NULL PRIMARY KEY,
    digest       TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    owner        TEXT,
    tenant       TEXT    NOT NULL,
    scopes       TEXT    NOT NULL,
    quotas       TEXT,
    created_at   INTEGER NOT NULL,
    created_by   TEXT,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    replaces     TEXT
, queues TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE duly_lanes (
    id          TEXT    NOT NULL PRIMARY KEY,
    tenant      TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    max_running INTEGER NOT NULL,
    tickets     INTEGER NOT NULL,
    used_at     INTEGER NOT NULL
, owner TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
CREATE TABLE duly_leases (
    role       TEXT    NOT NULL PRIMARY KEY,
    session    INTEGER NOT NULL,
    term       INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_leases" VALUES('auditor',1421533127123018030,1,1794849459700);
INSERT INTO "duly_leases" VALUES('janitor',1421533127123018030,1,1794849459704);
CREATE TABLE duly_marks (
    run_id TEXT NOT NULL,
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE duly_meta (
    store_id         TEXT    NOT NULL,
    epoch            INTEGER NOT NULL,
    schema           INTEGER NOT NULL,
    tz_version       TEXT,
    firing_paused_at INTEGER
, firing_paused_by TEXT, firing_pause_reason TEXT, restored_at INTEGER, ticks INTEGER NOT NULL DEFAULT 0, home TEXT, purged_before INTEGER) STRICT;
INSERT INTO "duly_meta" VALUES('01a1e55d-123b-7edd-831d-4b2be24a793d',1,35,NULL,NULL,NULL,NULL,NULL,2,NULL,NULL);
CREATE TABLE duly_operations (
    id          TEXT    NOT NULL PRIMARY KEY,
    kind        TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    made_at     INTEGER NOT NULL,
    made_by     TEXT,
    status      TEXT    NOT NULL,
    position    TEXT,
    matched     INTEGER NOT NULL,
    changed     INTEGER NOT NULL,
    refused     INTEGER NOT NULL,
    error       TEXT,
    updated_at  INTEGER NOT NULL,
    finished_at INTEGER
, items TEXT, tenant TEXT, owner TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE duly_overdue (
    schedule_id TEXT    NOT NULL PRIMARY KEY,
    since       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE duly_owners (
    run_id TEXT NOT NULL PRIMARY KEY,
    owner  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE duly_published (
    run_id TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    value  TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE duly_queues (
    name         TEXT    NOT NULL PRIMARY KEY,
    governed     INTEGER NOT NULL,
    max_running  INTEGER,
    rate         INTEGER,
    per_ms       INTEGER,
    window_at    INTEGER,
    used         INTEGER NOT NULL,
    paused_at    INTEGER,
    paused_by    TEXT,
    pause_reason TEXT,
    updated_at   INTEGER NOT NULL
, fair INTEGER NOT NULL DEFAULT 0, newest_first INTEGER NOT NULL DEFAULT 0, served TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE duly_redrives (
    run_id      TEXT    NOT NULL,
    fence       INTEGER NOT NULL,
    redriven_at INTEGER NOT NULL,
    redriven_by TEXT,
    made_run    TEXT,
    PRIMARY KEY (run_id, fence)
) STRICT;
CREATE TABLE duly_requests (
    tenant     TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    hash       TEXT    NOT NULL,
    status     INTEGER,
    answer     TEXT,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;
CREATE TABLE duly_revisions (
    schedule_id TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    payload     TEXT    NOT NULL,
    made_at     INTEGER NOT NULL,
    made_by     TEXT,
    PRIMARY KEY (schedule_id, revision)
) STRICT;
INSERT INTO "duly_revisions" VALUES('01a1e55d-135b-7300-a9a0-07c271b46d60',1,'{"key":"nightly","shape":{"timing":{"kind":"cron","expr":"0 2 * * *","timezone":"America/New_York","dst_gap":"fire_after","dst_fold":"first","strict_fields":null},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{"n":1}',1794849444700,NULL);
INSERT INTO "duly_revisions" VALUES('01a1e55d-135f-7706-af14-cfe5ca113526',1,'{"key":"hourly","shape":{"timing":{"kind":"every","every_ms":3600000,"anchor":"epoch","anchor_ms":0,"after_completion":false},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{"text":"é"}',1794849444705,NULL);
INSERT INTO "duly_revisions" VALUES('01a1e55d-1365-7023-8a49-2c454e40cdca',1,'{"key":"later","shape":{"timing":{"kind":"once","at_ms":1798761600000,"on_past":"reject"},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{}',1794849444710,NULL);
INSERT INTO "duly_revisions" VALUES('01a1e55d-1368-7106-9447-a145ac6a13eb',1,'{"key":"paused","shape":{"timing":{"kind":"every","every_ms":300000,"anchor":"epoch","anchor_ms":0,"after_completion":false},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{}',1794849444712,NULL);
INSERT INTO "duly_revisions" VALUES('01a1e55d-135f-7706-af14-cfe5ca113526',2,'{"key":"hourly","shape":{"timing":{"kind":"every","every_ms":3600000,"anchor":"epoch","anchor_ms":0,"after_completion":false},"target":["job","work",null,null],"overlap":"skip","catch_up":["latest",86400000,100],"retry":null,"jitter":null,"timeout_ms":3600000,"max_queued":1,"max_concurrent":null,"start_at":null,"end_at":null,"max_runs":null,"queue":"default","priority":0,"pause_after_failures":null,"fire_current_window":false}}','{"text":"è"}',1794849444724,NULL);
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
, fair_key TEXT, undo_at INTEGER) STRICT;
INSERT INTO "duly_runs" VALUES('01a1e55d-138c-7203-963e-ce6764c1e0ce',NULL,NULL,'direct',1794849444748,'','workflow:order@1','default',0,253402300799000,0,4,NULL,0,3,1,NULL,NULL,NULL,1794849444748,1794849444749,3600000,'{"n":7}',NULL,NULL);
INSERT INTO "duly_runs" VALUES('01a1e55d-13c3-7a80-9cb5-afdf0b79d18e',NULL,NULL,'direct',1794849444803,'','elsewhere','default',0,1794849444803,0,0,NULL,0,3,0,NULL,NULL,NULL,1794849444803,NULL,3600000,'{"n":2}',NULL,NULL);
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
, calendars TEXT) STRICT, WITHOUT ROWID;
INSERT INTO "duly_schedules" VALUES('01a1e55d-135b-7300-a9a0-07c271b46d60','nightly','nightly','',NULL,NULL,NULL,NULL,'[]',NULL,1,NULL,NULL,NULL,NULL,1794849444700,NULL,1794849444700,NULL,NULL,NULL,NULL,'cron','work',NULL,NULL);
INSERT INTO "duly_schedules" VALUES('01a1e55d-135f-7706-af14-cfe5ca113526','hourly','hourly','',NULL,NULL,NULL,NULL,'["a","b"]',NULL,2,NULL,NULL,NULL,NULL,1794849444705,NULL,1794849444724,NULL,NULL,NULL,NULL,'interval','work',NULL,NULL);
INSERT INTO "duly_schedules" VALUES('01a1e55d-1365-7023-8a49-2c454e40cdca','later','later','',NULL,NULL,NULL,NULL,'[]',NULL,1,NULL,NULL,NULL,NULL,1794849444710,NULL,1794849444710,NULL,NULL,NULL,NULL,'once','work',NULL,NULL);
INSERT INTO "duly_schedules" VALUES('01a1e55d-1368-7106-9447-a145ac6a13eb','paused','paused','',NULL,NULL,NULL,NULL,'[]',NULL,1,1794849444714,NULL,NULL,'not now',1794849444712,NULL,1794849444714,NULL,NULL,NULL,NULL,'interval','work',NULL,NULL);
CREATE TABLE duly_secrets (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_secrets" VALUES('hooks','69c91d253e42784b693564d0a47c1f45e0c846107aa9fae7a4f7826d8c467360');
CREATE TABLE duly_steps (
    run_id   TEXT    NOT NULL,
    position INTEGER NOT NULL,
    seq      INTEGER,
    kind     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    status   TEXT    NOT NULL,
    attempt  INTEGER NOT NULL,
    due_at   INTEGER,
    result   TEXT,
    error    TEXT,
    log      TEXT,
    asked_at INTEGER NOT NULL,
    done_at  INTEGER,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_steps" VALUES('01a1e55d-138c-7203-963e-ce6764c1e0ce',0,NULL,'start','1','done',0,NULL,NULL,NULL,NULL,1794849444752,1794849444752);
INSERT INTO "duly_steps" VALUES('01a1e55d-138c-7203-963e-ce6764c1e0ce',1,1,'step','first','done',1,NULL,'"kept"',NULL,NULL,1794849444752,1794849444752);
INSERT INTO "duly_steps" VALUES('01a1e55d-138c-7203-963e-ce6764c1e0ce',2,NULL,'signal','go','asked',0,NULL,NULL,NULL,NULL,1794849444752,NULL);
CREATE TABLE duly_tenants (
    id    TEXT    NOT NULL PRIMARY KEY,
    slots INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "duly_tenants" VALUES('',4);
CREATE TABLE duly_traces (
    id    TEXT PRIMARY KEY,
    trace TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE "duly_uniques" (
    tenant     TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    owner      TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, owner, key)
) STRICT;
CREATE TABLE duly_watch (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    since   INTEGER NOT NULL,
    until   INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    gone    INTEGER NOT NULL
, wanted TEXT NOT NULL DEFAULT '[]') STRICT;
INSERT INTO "duly_watch" VALUES(1,0,0,1,0,0,'[]');
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
CREATE UNIQUE INDEX duly_meta_one ON duly_meta ((1));
CREATE UNIQUE INDEX duly_schedules_key ON duly_schedules (tenant, key) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX duly_schedules_request ON duly_schedules (tenant, client_request_id)
    WHERE client_request_id IS NOT NULL;
CREATE INDEX duly_schedules_tenant ON duly_schedules (tenant, id) WHERE deleted_at IS NULL;
CREATE INDEX duly_schedules_owner ON duly_schedules (tenant, owner, id) WHERE deleted_at IS NULL AND owner IS NOT NULL;
CREATE INDEX duly_schedules_job ON duly_schedules (tenant, job, id) WHERE deleted_at IS NULL;
CREATE INDEX duly_schedules_app ON duly_schedules (app, id) WHERE deleted_at IS NULL AND app IS NOT NULL;
CREATE INDEX duly_schedules_paused ON duly_schedules (paused_until) WHERE paused_until IS NOT NULL;
CREATE INDEX duly_schedules_ended ON duly_schedules (ended_at) WHERE kind = 'once' AND ended_at IS NOT NULL;
CREATE INDEX duly_schedules_deleted ON duly_schedules (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX duly_cursors_due ON duly_cursors (fire_at, slot) WHERE fire_at IS NOT NULL;
CREATE INDEX duly_runs_ready ON duly_runs (queue, priority DESC, due_at, slot, job, claimed_by, hold)
    WHERE claimed_by IS NULL AND hold = 0;
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
CREATE INDEX duly_runs_suspects ON duly_runs (queue, priority DESC, due_at, slot)
    WHERE claimed_by IS NULL AND hold = 5;
CREATE INDEX duly_operations_running ON duly_operations (updated_at) WHERE status = 'running';
CREATE INDEX duly_operations_finished ON duly_operations (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX duly_redrives_made ON duly_redrives (made_run) WHERE made_run IS NOT NULL;
CREATE INDEX duly_dead_handlers_handler ON duly_dead_handlers (handler);
CREATE INDEX duly_runs_held ON duly_runs (claimed_by, queue) WHERE claimed_by IS NOT NULL;
CREATE INDEX duly_history_foreign ON duly_history (finished_at)
    WHERE kind IN ('direct', 'manual') AND substr(id, 15, 1) <> '7';
CREATE INDEX duly_schedules_calendars ON duly_schedules (tenant) WHERE calendars IS NOT NULL AND ended_at IS NULL;
CREATE INDEX duly_runs_fair ON duly_runs (queue, priority DESC, fair_key, due_at, slot, job, claimed_by, hold)
    WHERE claimed_by IS NULL AND hold = 0 AND fair_key IS NOT NULL;
CREATE INDEX duly_requests_expiry ON duly_requests (expires_at);
CREATE INDEX duly_lanes_used ON duly_lanes (used_at);
CREATE INDEX duly_runs_singleton ON duly_runs (lane, hold, slot) WHERE schedule_id IS NULL AND lane IS NOT NULL;
CREATE INDEX duly_history_singleton ON duly_history (lane) WHERE lane IS NOT NULL;
CREATE VIEW duly_owned_runs (id, tenant, owner) AS
SELECT r.id, r.tenant, coalesce(o.owner, s.owner) FROM duly_runs AS r
LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = r.id
UNION ALL
SELECT h.id, h.tenant, coalesce(o.owner, s.owner) FROM duly_history AS h
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = h.id;
CREATE INDEX duly_operations_owner ON duly_operations (tenant, owner, id) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX duly_events_number ON duly_events (number) WHERE number IS NOT NULL;
CREATE INDEX duly_events_new ON duly_events (seq) WHERE number IS NULL;
CREATE INDEX duly_uniques_expiry ON duly_uniques (expires_at);
CREATE INDEX duly_steps_events ON duly_steps (name, run_id) WHERE kind = 'event' AND status = 'asked';
CREATE INDEX duly_children_parent ON duly_children (parent_id);
CREATE INDEX duly_runs_alarm ON duly_runs (due_at) WHERE hold = 4 AND claimed_by IS NULL;
CREATE INDEX duly_operations_stops ON duly_operations (made_at, id)
    WHERE kind IN ('pause_all', 'resume_all') OR (kind = 'purge' AND status = 'running');
CREATE INDEX duly_runs_unanswered ON duly_runs (due_at) WHERE hold = 3 AND claimed_by IS NULL;
CREATE INDEX duly_webhooks_owner ON duly_webhooks (tenant, owner, id) WHERE owner IS NOT NULL;
CREATE INDEX duly_interests_webhook ON duly_interests (webhook_id);
CREATE INDEX duly_marks_value ON duly_marks (name, value, run_id);
CREATE INDEX duly_marks_name ON duly_marks (name, run_id);
CREATE INDEX duly_event_handlers_job ON duly_event_handlers (job);
CREATE INDEX duly_gatherings_at ON duly_gatherings (at);
CREATE INDEX duly_event_ids_expiry ON duly_event_ids (expires_at);
COMMIT;
