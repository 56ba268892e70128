-- Instants are epoch milliseconds. Words that machines compare sort by bytes, whatever the database's collation.

CREATE TABLE duly_meta (
    store_id         text NOT NULL,
    epoch            bigint NOT NULL,
    schema           int NOT NULL,
    tz_version       text,
    firing_paused_at bigint
);
CREATE UNIQUE INDEX duly_meta_one ON duly_meta ((true));
INSERT INTO duly_meta (store_id, epoch, schema) VALUES (gen_random_uuid()::text, 1, 1);

CREATE TABLE duly_tenants (
    id    text COLLATE "C" PRIMARY KEY,
    slots bigint NOT NULL
);

CREATE TABLE duly_schedules (
    id                uuid PRIMARY KEY,
    key               text COLLATE "C" NOT NULL,
    name              text NOT NULL,
    tenant            text COLLATE "C" NOT NULL,
    description       text,
    owner             text COLLATE "C",
    correlation_id    text,
    client_request_id text COLLATE "C",
    tags              text NOT NULL,
    app               text COLLATE "C",
    revision          int NOT NULL,
    paused_at         bigint,
    paused_until      bigint,
    paused_by         text,
    pause_reason      text,
    created_at        bigint NOT NULL,
    created_by        text,
    updated_at        bigint NOT NULL,
    ended_at          bigint,
    deleted_at        bigint,
    replaces          text,
    replaced_by       text,
    kind              text COLLATE "C" NOT NULL,
    job               text COLLATE "C" NOT NULL,
    topic             text COLLATE "C"
);
CREATE UNIQUE INDEX duly_schedules_key ON duly_schedules (tenant, key) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX duly_schedules_client_request ON duly_schedules (tenant, client_request_id)
    WHERE client_request_id IS NOT NULL;
CREATE INDEX duly_schedules_owner ON duly_schedules (owner, tenant, id) WHERE owner IS NOT NULL;
CREATE INDEX duly_schedules_job ON duly_schedules (job, tenant, id);
CREATE INDEX duly_schedules_app ON duly_schedules (app, id) WHERE app IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX duly_schedules_pause ON duly_schedules (paused_until)
    WHERE paused_until IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX duly_schedules_deleted ON duly_schedules (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX duly_schedules_once ON duly_schedules (ended_at) WHERE kind = 'once' AND ended_at IS NOT NULL;

CREATE TABLE duly_revisions (
    schedule_id uuid NOT NULL,
    revision    int NOT NULL,
    body        text NOT NULL,
    payload     text NOT NULL,
    made_at     bigint NOT NULL,
    made_by     text,
    PRIMARY KEY (schedule_id, revision)
);

-- The only row of a schedule that a fire writes: room for new versions on its page, and vacuum before the index grows.
CREATE TABLE duly_cursors (
    schedule_id    uuid PRIMARY KEY,
    revision       int NOT NULL,
    status         text COLLATE "C" NOT NULL,
    window_at      bigint,
    next_window_at bigint,
    fire_at        bigint,
    slot           bigint NOT NULL,
    fired          bigint NOT NULL,
    failures       int NOT NULL,
    last_fired_at  bigint,
    error          text,
    tenant         text COLLATE "C" NOT NULL
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_analyze_threshold = 1000,
    autovacuum_vacuum_cost_delay = 1
);
CREATE INDEX duly_cursors_due ON duly_cursors (fire_at, slot) WHERE fire_at IS NOT NULL;

-- Open runs only: every row here is updated once or more and then deleted, so it is vacuumed all the time.
CREATE TABLE duly_runs (
    id           uuid PRIMARY KEY,
    schedule_id  uuid,
    revision     int,
    kind         text COLLATE "C" NOT NULL,
    window_at    bigint,
    tenant       text COLLATE "C" NOT NULL,
    job          text COLLATE "C" NOT NULL,
    queue        text COLLATE "C" NOT NULL,
    priority     int NOT NULL,
    due_at       bigint NOT NULL,
    slot         bigint NOT NULL,
    hold         smallint NOT NULL DEFAULT 0,
    lane         uuid,
    attempt      int NOT NULL DEFAULT 0,
    max_attempts int NOT NULL,
    fence        bigint NOT NULL DEFAULT 0,
    claimed_by   bigint,
    deadline_at  bigint,
    cancel_at    bigint,
    fired_at     bigint NOT NULL,
    started_at   bigint,
    timeout_ms   bigint,
    payload      text
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 20000,
    autovacuum_analyze_scale_factor = 0,
    autovacuum_analyze_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX duly_runs_ready ON duly_runs (queue, priority DESC, due_at, slot) WHERE claimed_by IS NULL AND hold = 0;
CREATE INDEX duly_runs_held ON duly_runs (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX duly_runs_open ON duly_runs (schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_runs_laned ON duly_runs (schedule_id) WHERE hold = 1 AND schedule_id IS NOT NULL;
CREATE INDEX duly_runs_waiting ON duly_runs (schedule_id) WHERE hold = 1;
CREATE INDEX duly_runs_unknown ON duly_runs (job) WHERE hold = 2;

-- The distinct (queue, priority) of runs that may be claimed: one probe of the index each, however many runs wait.
CREATE VIEW duly_lines AS
WITH RECURSIVE lines AS (
    (
        SELECT queue, priority
        FROM duly_runs
        WHERE claimed_by IS NULL AND hold = 0
        ORDER BY queue, priority DESC
        LIMIT 1
    )
    UNION ALL
    SELECT next.queue, next.priority
    FROM lines
    CROSS JOIN LATERAL (
        (
            SELECT r.queue, r.priority
            FROM duly_runs AS r
            WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = lines.queue AND r.priority < lines.priority
            ORDER BY r.priority DESC
            LIMIT 1
        )
        UNION ALL
        (
            SELECT r.queue, r.priority
            FROM duly_runs AS r
            WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue > lines.queue
            ORDER BY r.queue, r.priority DESC
            LIMIT 1
        )
        LIMIT 1
    ) AS next
)
SELECT queue, priority FROM lines;

CREATE TABLE duly_history (
    id           uuid PRIMARY KEY,
    schedule_id  uuid,
    revision     int,
    kind         text COLLATE "C" NOT NULL,
    window_at    bigint,
    since        bigint,
    windows      int,
    tenant       text COLLATE "C" NOT NULL,
    job          text COLLATE "C" NOT NULL,
    queue        text COLLATE "C" NOT NULL,
    priority     int NOT NULL,
    status       text COLLATE "C" NOT NULL,
    reason       text COLLATE "C",
    attempt      int NOT NULL,
    max_attempts int NOT NULL,
    fence        bigint NOT NULL,
    session      bigint,
    due_at       bigint NOT NULL,
    fired_at     bigint NOT NULL,
    started_at   bigint,
    finished_at  bigint NOT NULL,
    error        text,
    payload      text,
    result       text,
    acked_at     bigint
);
CREATE INDEX duly_history_by_schedule ON duly_history (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_history_dead ON duly_history (id) WHERE status = 'failed' AND acked_at IS NULL;

-- A run as people see it, open or ended. Types and collations of both halves agree, so that each uses its own indexes.
CREATE VIEW duly_all_runs AS
SELECT
    id, schedule_id, revision, kind,
    CASE
        WHEN claimed_by IS NOT NULL THEN 'running' COLLATE "C"
        WHEN hold = 3 THEN 'dispatched' COLLATE "C"
        WHEN hold = 4 THEN 'suspended' COLLATE "C"
        ELSE 'pending' COLLATE "C"
    END AS status,
    NULL::text COLLATE "C" AS reason, tenant, window_at, NULL::bigint AS since, NULL::int AS windows, job, queue,
    priority, hold, due_at, attempt, max_attempts, fence, claimed_by AS session, fired_at, started_at,
    NULL::bigint AS finished_at, cancel_at IS NOT NULL AS cancel_requested, NULL::text AS error, payload,
    NULL::text AS result
FROM duly_runs
UNION ALL
SELECT
    id, schedule_id, revision, kind, status, reason, tenant, window_at, since, windows, job, queue, priority,
    0::smallint, due_at, attempt, max_attempts, fence, session, fired_at, started_at, finished_at, false, error,
    payload, result
FROM duly_history;

CREATE TABLE duly_attempts (
    run_id     uuid NOT NULL,
    fence      bigint NOT NULL,
    attempt    int NOT NULL,
    outcome    text COLLATE "C" NOT NULL,
    error      text NOT NULL,
    started_at bigint,
    ended_at   bigint NOT NULL,
    session    bigint,
    PRIMARY KEY (run_id, fence)
);

CREATE TABLE duly_instances (
    session    bigint PRIMARY KEY,
    name       text NOT NULL,
    host       text NOT NULL,
    pid        int NOT NULL,
    roles      text NOT NULL,
    version    text NOT NULL,
    tz_version text NOT NULL,
    jobs       text NOT NULL,
    started_at bigint NOT NULL,
    expires_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

CREATE TABLE duly_leases (
    role       text COLLATE "C" PRIMARY KEY,
    session    bigint NOT NULL,
    term       bigint NOT NULL,
    expires_at bigint NOT NULL
);
