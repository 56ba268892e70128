-- Instants are epoch milliseconds; ids are lower-case hyphenated UUIDs. A table is WITHOUT ROWID where a row is narrow
-- and found by its key. Runs and history have a rowid: their indexes then hold a number instead of an id, and fire,
-- claim and settle cost a sixth less.
-- Until the first release a schema change edits this file instead of adding a second one.

CREATE TABLE duly_meta (
    store_id            TEXT    NOT NULL,
    epoch               INTEGER NOT NULL,
    schema              INTEGER NOT NULL,
    tz_version          TEXT,
    firing_paused_at    INTEGER,
    firing_paused_by    TEXT,
    firing_pause_reason TEXT,
    restored_at         INTEGER,
    ticks               INTEGER NOT NULL DEFAULT 0,
    home                TEXT,
    -- Retention may have deleted rows of windows before this instant, so an audit does not report them as missed.
    purged_before       INTEGER
) STRICT;
CREATE UNIQUE INDEX duly_meta_one ON duly_meta ((1));

-- Applied migrations. One whose checksum differs from the code is rejected.
CREATE TABLE duly_migrations (
    number     INTEGER NOT NULL PRIMARY KEY,
    checksum   TEXT    NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE duly_tenants (
    id    TEXT    NOT NULL PRIMARY KEY,
    slots INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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
    topic             TEXT,
    -- Names of the calendars that the current definition uses, as JSON; NULL if it uses none.
    calendars         TEXT
) STRICT, WITHOUT ROWID;
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
CREATE INDEX duly_schedules_calendars ON duly_schedules (tenant) WHERE calendars IS NOT NULL AND ended_at IS NULL;

CREATE TABLE duly_revisions (
    schedule_id TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    payload     TEXT    NOT NULL,
    made_at     INTEGER NOT NULL,
    made_by     TEXT,
    PRIMARY KEY (schedule_id, revision)
) STRICT;

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
CREATE INDEX duly_cursors_due ON duly_cursors (fire_at, slot) WHERE fire_at IS NOT NULL;

-- Open runs only.
-- hold: 0 none, 1 lane, 2 unknown job, 3 awaiting an outside answer, 4 awaiting a message or timer, 5 suspect.
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
    payload      TEXT,
    -- Set only for runs of fair queues and runs that were given a key; other runs have no entry in the index of it.
    fair_key     TEXT,
    -- When the run was told to undo its work and to end as cancelled.
    undo_at      INTEGER
) STRICT;
-- The job is in the index, so a worker skips runs of unknown jobs without reading their rows. The last two columns take
-- no space and make it a covering index.
CREATE INDEX duly_runs_ready ON duly_runs (queue, priority DESC, due_at, slot, job, claimed_by, hold)
    WHERE claimed_by IS NULL AND hold = 0;
CREATE INDEX duly_runs_open ON duly_runs (schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_runs_laned ON duly_runs (schedule_id) WHERE hold = 1 AND schedule_id IS NOT NULL;
CREATE INDEX duly_runs_unknown ON duly_runs (job) WHERE hold = 2;
-- Runs that were lost before (hold 5) wait apart from the others; this index is almost always empty.
CREATE INDEX duly_runs_suspects ON duly_runs (queue, priority DESC, due_at, slot)
    WHERE claimed_by IS NULL AND hold = 5;
CREATE INDEX duly_runs_held ON duly_runs (claimed_by, queue) WHERE claimed_by IS NOT NULL;
CREATE INDEX duly_runs_fair ON duly_runs (queue, priority DESC, fair_key, due_at, slot, job, claimed_by, hold)
    WHERE claimed_by IS NULL AND hold = 0 AND fair_key IS NOT NULL;
-- Only runs of a singleton key; the lane of a schedule's run is found by the schedule.
CREATE INDEX duly_runs_singleton ON duly_runs (lane, hold, slot) WHERE schedule_id IS NULL AND lane IS NOT NULL;
CREATE INDEX duly_runs_alarm ON duly_runs (due_at) WHERE hold = 4 AND claimed_by IS NULL;
-- Runs that await an answer from outside, by the deadline of that answer.
CREATE INDEX duly_runs_unanswered ON duly_runs (due_at) WHERE hold = 3 AND claimed_by IS NULL;
-- Lists are ordered by the instant that a run is for (window_at). Almost all ids begin with that instant and need no
-- entry here. The undated ones are runs other than windows whose id begins with an instant 65 seconds or more away, and
-- all ids from 0x02 on, where hashes and random UUIDs almost always are. Lists of dated runs start below 0x02 (ADR 21).
CREATE INDEX duly_runs_undated ON duly_runs ((coalesce(window_at, fired_at)), id)
    WHERE (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));

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
    acked_at     INTEGER,
    -- Set for failed runs only: a redriven run keeps its time limit.
    timeout_ms   INTEGER,
    -- Set for failed runs of a singleton key only: a redriven run waits in the same lane.
    lane         TEXT
) STRICT;
CREATE INDEX duly_history_schedule ON duly_history (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_history_dead ON duly_history (id) WHERE status = 'failed' AND acked_at IS NULL;
-- Runs whose id was chosen by a caller and does not start with an instant: retention finds them by their end. A run of
-- a window never has such an id; the first condition excludes it.
CREATE INDEX duly_history_foreign ON duly_history (finished_at)
    WHERE kind IN ('direct', 'manual') AND substr(id, 15, 1) <> '7';
CREATE INDEX duly_history_singleton ON duly_history (lane) WHERE lane IS NOT NULL;
CREATE INDEX duly_history_undated ON duly_history ((coalesce(window_at, fired_at)), id)
    WHERE (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));
CREATE INDEX duly_history_undated_of ON duly_history (schedule_id, (coalesce(window_at, fired_at)), id)
    WHERE schedule_id IS NOT NULL AND (id >= '02' OR
        (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));
CREATE INDEX duly_history_undated_dead ON duly_history ((coalesce(window_at, fired_at)), id)
    WHERE status = 'failed' AND acked_at IS NULL AND (id >= '02' OR
        (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));

-- Every attempt that started a handler and did not complete. The last attempt of a run that completed or was cancelled
-- is derived from its history.
CREATE TABLE duly_attempts (
    run_id     TEXT    NOT NULL,
    fence      INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    outcome    TEXT    NOT NULL,
    error      TEXT,
    started_at INTEGER,
    ended_at   INTEGER NOT NULL,
    session    INTEGER,
    -- Snoozed attempts only: how often the run has been snoozed. Older rows of them are deleted.
    snoozes    INTEGER,
    -- Of a failed attempt: what was raised, the line of the app that raised it, and the stack. Lists never read the stack.
    error_type      TEXT,
    error_location  TEXT,
    stack           TEXT,
    stack_truncated INTEGER,
    PRIMARY KEY (run_id, fence)
) STRICT;

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
    expires_at INTEGER NOT NULL,
    -- How far the store's clock was ahead of the instance's clock at the last heartbeat but one.
    skew_ms    INTEGER
) STRICT;

-- Sessions that have ended, for as long as the history names them.
CREATE TABLE duly_ended_instances (
    session    INTEGER NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    host       TEXT    NOT NULL,
    pid        INTEGER NOT NULL,
    roles      TEXT    NOT NULL,
    version    TEXT    NOT NULL,
    jobs       TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    -- 1 where the lease ran out or the process died; 0 where the instance closed its session.
    lost       INTEGER NOT NULL
) STRICT;
CREATE INDEX duly_ended_instances_ended ON duly_ended_instances (ended_at);

CREATE TABLE duly_leases (
    role       TEXT    NOT NULL PRIMARY KEY,
    session    INTEGER NOT NULL,
    term       INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The audit trail: one row per change of a schedule. Creating or firing a schedule writes nothing here.
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

-- Operations that change many schedules or create many runs step by step: the request and its progress.
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
    finished_at INTEGER,
    -- The result for each schedule that was named in the request, and for each that could not be changed.
    items       TEXT,
    tenant      TEXT,
    owner       TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX duly_operations_running ON duly_operations (updated_at) WHERE status = 'running';
CREATE INDEX duly_operations_finished ON duly_operations (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX duly_operations_owner ON duly_operations (tenant, owner, id) WHERE owner IS NOT NULL;
-- For audits: when firing was stopped, and which purges are running.
CREATE INDEX duly_operations_stops ON duly_operations (made_at, id)
    WHERE kind IN ('pause_all', 'resume_all') OR (kind = 'purge' AND status = 'running');

-- One row per redrive: the failure it answers, and the new run if the payload was changed.
CREATE TABLE duly_redrives (
    run_id      TEXT    NOT NULL,
    fence       INTEGER NOT NULL,
    redriven_at INTEGER NOT NULL,
    redriven_by TEXT,
    made_run    TEXT,
    PRIMARY KEY (run_id, fence)
) STRICT;
CREATE INDEX duly_redrives_made ON duly_redrives (made_run) WHERE made_run IS NOT NULL;

-- The job that handles dead letters of a job, as declared by the apps that know that job.
CREATE TABLE duly_dead_handlers (
    job          TEXT    NOT NULL PRIMARY KEY,
    handler      TEXT    NOT NULL,
    queue        TEXT    NOT NULL,
    max_attempts INTEGER NOT NULL,
    timeout_ms   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX duly_dead_handlers_handler ON duly_dead_handlers (handler);

-- Queues with limits or a pause. A claim on a governed queue reads its limits here.
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
    updated_at   INTEGER NOT NULL,
    -- served: the fairness key that was served last; the next claim continues after it.
    fair         INTEGER NOT NULL DEFAULT 0,
    newest_first INTEGER NOT NULL DEFAULT 0,
    served       TEXT
) STRICT, WITHOUT ROWID;

-- Named sets of dates on which nothing fires. The id distinguishes a calendar from an earlier one of the same name.
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

-- Idempotency keys of requests and the stored responses. A row without a status is a request in progress, or one whose
-- outcome is unknown.
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

-- Singleton keys and how many runs of each may run at once.
CREATE TABLE duly_lanes (
    id          TEXT    NOT NULL PRIMARY KEY,
    tenant      TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    max_running INTEGER NOT NULL,
    tickets     INTEGER NOT NULL,
    used_at     INTEGER NOT NULL,
    -- Each owner has keys of their own, so a key delays nobody else and reveals nothing to them.
    owner       TEXT    NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX duly_lanes_used ON duly_lanes (used_at);

-- Unique keys: at most one open run each. The last run keeps the key until expires_at, even after it has ended.
CREATE TABLE duly_uniques (
    tenant     TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    run_id     TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    owner      TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, owner, key)
) STRICT;
CREATE INDEX duly_uniques_expiry ON duly_uniques (expires_at);

-- API keys. A revoked key stays here, so that it is recognized and the API stays closed.
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
    replaces     TEXT,
    -- The queues that a worker's key is limited to, as a JSON list; NULL for all.
    queues       TEXT
) STRICT, WITHOUT ROWID;

-- Owners of runs without a schedule; other runs belong to the owner of their schedule.
CREATE TABLE duly_owners (
    run_id TEXT NOT NULL PRIMARY KEY,
    owner  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Events, written by the transaction that causes them, and only while somebody watches. A reader numbers an event once
-- it is committed; readers follow the order of these numbers.
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

-- One row: the time span in which somebody watches, the last number assigned and the last number deleted.
CREATE TABLE duly_watch (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    since   INTEGER NOT NULL,
    until   INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    gone    INTEGER NOT NULL,
    -- Names of the events that some webhook wants; for other events no webhooks are looked up.
    wanted  TEXT    NOT NULL DEFAULT '[]'
) STRICT;

-- Workflows: one row per step (duly_steps), waiting messages (duly_inbox), child runs (duly_children) and published
-- values (duly_published).
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
CREATE INDEX duly_steps_events ON duly_steps (name, run_id) WHERE kind = 'event' AND status = 'asked';

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

CREATE TABLE duly_children (
    run_id    TEXT    NOT NULL PRIMARY KEY,
    parent_id TEXT    NOT NULL,
    position  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX duly_children_parent ON duly_children (parent_id);

CREATE TABLE duly_published (
    run_id TEXT    NOT NULL,
    name   TEXT    NOT NULL,
    value  TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;

-- Webhooks. Secrets are stored in plain text because messages are signed with them.
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

-- The inverse of duly_webhooks: the webhooks that want an event of a schedule, an owner, a tenant or anybody.
CREATE TABLE duly_interests (
    event      TEXT NOT NULL,
    subject    TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    PRIMARY KEY (event, subject, webhook_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX duly_interests_webhook ON duly_interests (webhook_id);

-- Schedules reported as overdue: one event when that begins and one when it is over.
CREATE TABLE duly_overdue (
    schedule_id TEXT    NOT NULL PRIMARY KEY,
    since       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Search attributes of workflow runs: tags (the name begins with #) and attributes, whose value is JSON.
CREATE TABLE duly_marks (
    run_id TEXT NOT NULL,
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX duly_marks_value ON duly_marks (name, value, run_id);
CREATE INDEX duly_marks_name ON duly_marks (name, run_id);

-- Secrets of the store, which sign the tokens that it issues.
CREATE TABLE duly_secrets (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- W3C trace contexts of the requests that created a run or a schedule.
CREATE TABLE duly_traces (
    id    TEXT PRIMARY KEY,
    trace TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Jobs and workflows that an event starts; every app writes those of its own code when it starts.
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
CREATE INDEX duly_event_handlers_job ON duly_event_handlers (job);

-- The run that still collects events, for handlers that batch or debounce.
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
CREATE INDEX duly_gatherings_at ON duly_gatherings (at);

-- Ids of published events, kept for as long as a repeated id is a duplicate.
CREATE TABLE duly_event_ids (
    tenant     TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, id)
) STRICT;
CREATE INDEX duly_event_ids_expiry ON duly_event_ids (expires_at);

-- The distinct (queue, priority) pairs of claimable runs: one index probe each, however many runs wait.
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

CREATE VIEW duly_owned_runs (id, tenant, owner) AS
SELECT r.id, r.tenant, coalesce(o.owner, s.owner) FROM duly_runs AS r
LEFT JOIN duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = r.id
UNION ALL
SELECT h.id, h.tenant, coalesce(o.owner, s.owner) FROM duly_history AS h
LEFT JOIN duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly_owners AS o ON o.run_id = h.id;

CREATE VIEW duly_undated_open (at, id, schedule_id, tenant, job, status) AS
SELECT
    coalesce(window_at, fired_at), id, schedule_id, tenant, job,
    CASE WHEN undo_at IS NOT NULL THEN 'cancelling' WHEN claimed_by IS NOT NULL THEN 'running'
        WHEN hold = 3 THEN 'dispatched' WHEN hold = 4 THEN 'suspended' ELSE 'pending' END
FROM duly_runs
WHERE (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));

CREATE VIEW duly_undated_ended (at, id, schedule_id, tenant, job, status) AS
SELECT coalesce(window_at, fired_at), id, schedule_id, tenant, job, +status
FROM duly_history
WHERE (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));

-- Readers start below 0x02 (see duly_runs_undated). With that condition in the view, SQLite would start every page
-- there.
CREATE VIEW duly_dated_open (id, schedule_id, tenant, job, status) AS
SELECT
    id, schedule_id, tenant, job,
    CASE WHEN undo_at IS NOT NULL THEN 'cancelling' WHEN claimed_by IS NOT NULL THEN 'running'
        WHEN hold = 3 THEN 'dispatched' WHEN hold = 4 THEN 'suspended' ELSE 'pending' END
FROM duly_runs
WHERE kind = 'window' OR kind = 'backfill' OR substr(id, 1, 8) = printf('%08x', coalesce(window_at, fired_at) >> 16);

CREATE VIEW duly_dated_ended (id, schedule_id, tenant, job, status) AS
SELECT id, schedule_id, tenant, job, +status
FROM duly_history
WHERE kind = 'window' OR kind = 'backfill' OR substr(id, 1, 8) = printf('%08x', coalesce(window_at, fired_at) >> 16);

INSERT INTO duly_watch (one, since, until, settled, last, gone) VALUES (1, 0, 0, 1, 0, 0);

INSERT INTO duly_secrets VALUES ('hooks', lower(hex(randomblob(32))));
