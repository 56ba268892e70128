-- Instants are epoch milliseconds; ids are lower-case hyphenated UUIDs.
-- WITHOUT ROWID where a row is narrow and found by its key. Runs have a rowid although LAYOUT.md says otherwise: three
-- of their indexes then hold a number instead of an id, and fire, claim and settle cost a sixth less.

CREATE TABLE duly_meta (
    store_id         TEXT    NOT NULL,
    epoch            INTEGER NOT NULL,
    schema           INTEGER NOT NULL,
    tz_version       TEXT,
    firing_paused_at INTEGER
) STRICT;

CREATE UNIQUE INDEX duly_meta_one ON duly_meta ((1));

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
    topic             TEXT
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

-- Open runs only. hold: 0 none, 1 lane, 2 unknown job, 3 awaiting an outside answer, 4 awaiting a signal.
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

-- The job is in the index, so that a worker steps over runs it does not know without touching them; the last two take
-- no room, and let SQLite see that the index alone answers.
CREATE INDEX duly_runs_ready ON duly_runs (queue, priority DESC, due_at, slot, job, claimed_by, hold)
    WHERE claimed_by IS NULL AND hold = 0;
CREATE INDEX duly_runs_held ON duly_runs (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX duly_runs_open ON duly_runs (schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_runs_laned ON duly_runs (schedule_id) WHERE hold = 1 AND schedule_id IS NOT NULL;
CREATE INDEX duly_runs_unknown ON duly_runs (job) WHERE hold = 2;

-- Each queue and priority that has a run to be claimed, now or later. It jumps along the index from one to the next.
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

CREATE INDEX duly_history_schedule ON duly_history (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_history_dead ON duly_history (id) WHERE status = 'failed' AND acked_at IS NULL;

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
