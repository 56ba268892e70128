-- Instants are epoch milliseconds. Identifiers sort by bytes (COLLATE "C"), whatever the database's collation.
-- Until the first release a schema change edits this file instead of adding a second one.
-- The schema is named duly here; a store with another one replaces that name. It exists when this script runs.

CREATE TABLE duly.duly_meta (
    store_id            text NOT NULL,
    epoch               bigint NOT NULL,
    schema              int NOT NULL,
    tz_version          text,
    firing_paused_at    bigint,
    firing_paused_by    text,
    firing_pause_reason text,
    restored_at         bigint,
    ticks               bigint NOT NULL DEFAULT 0,
    home                text,
    -- Retention may have deleted rows of windows before this instant, so an audit does not report them as missed.
    purged_before       bigint
);
CREATE UNIQUE INDEX duly_meta_one ON duly.duly_meta ((true));

-- Applied migrations. One whose checksum differs from the code is rejected.
CREATE TABLE duly.duly_migrations (
    number     int PRIMARY KEY,
    checksum   text COLLATE "C" NOT NULL,
    applied_at bigint NOT NULL
);

CREATE TABLE duly.duly_tenants (
    id    text COLLATE "C" PRIMARY KEY,
    slots bigint NOT NULL
);

CREATE TABLE duly.duly_schedules (
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
    topic             text COLLATE "C",
    -- Names of the calendars that the current definition uses, as JSON; NULL if it uses none.
    calendars         text
);
CREATE UNIQUE INDEX duly_schedules_key ON duly.duly_schedules (tenant, key) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX duly_schedules_client_request ON duly.duly_schedules (tenant, client_request_id)
    WHERE client_request_id IS NOT NULL;
CREATE INDEX duly_schedules_owner ON duly.duly_schedules (owner, tenant, id) WHERE owner IS NOT NULL;
CREATE INDEX duly_schedules_job ON duly.duly_schedules (job, tenant, id);
CREATE INDEX duly_schedules_app ON duly.duly_schedules (app, id) WHERE app IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX duly_schedules_pause ON duly.duly_schedules (paused_until)
    WHERE paused_until IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX duly_schedules_deleted ON duly.duly_schedules (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX duly_schedules_once ON duly.duly_schedules (ended_at) WHERE kind = 'once' AND ended_at IS NOT NULL;
CREATE INDEX duly_schedules_calendars ON duly.duly_schedules (tenant) WHERE calendars IS NOT NULL AND ended_at IS NULL;

CREATE TABLE duly.duly_revisions (
    schedule_id uuid NOT NULL,
    revision    int NOT NULL,
    body        text NOT NULL,
    payload     text NOT NULL,
    made_at     bigint NOT NULL,
    made_by     text,
    PRIMARY KEY (schedule_id, revision)
);

-- The only row of a schedule that a fire writes. The fill factor leaves room for new versions on the page; eager
-- autovacuum keeps the index small.
CREATE TABLE duly.duly_cursors (
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
CREATE INDEX duly_cursors_due ON duly.duly_cursors (fire_at, slot) WHERE fire_at IS NOT NULL;

-- Open runs only. Every row is updated at least once and then deleted, so autovacuum is eager.
-- hold: 0 none, 1 lane, 2 unknown job, 3 awaiting an outside answer, 4 awaiting a message or timer, 5 suspect.
CREATE TABLE duly.duly_runs (
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
    payload      text,
    -- Set only for runs of fair queues and runs that were given a key; other runs have no entry in the index of it.
    fair_key     text COLLATE "C",
    -- When the run was told to undo its work and to end as cancelled.
    undo_at      bigint
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
CREATE INDEX duly_runs_ready ON duly.duly_runs (queue, priority DESC, due_at, slot)
    WHERE claimed_by IS NULL AND hold = 0;
CREATE INDEX duly_runs_open ON duly.duly_runs (schedule_id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_runs_laned ON duly.duly_runs (schedule_id) WHERE hold = 1 AND schedule_id IS NOT NULL;
CREATE INDEX duly_runs_waiting ON duly.duly_runs (schedule_id) WHERE hold = 1;
CREATE INDEX duly_runs_unknown ON duly.duly_runs (job) WHERE hold = 2;
-- Runs that were lost before (hold 5) wait apart from the others; this index is almost always empty.
CREATE INDEX duly_runs_suspects ON duly.duly_runs (queue, priority DESC, due_at, slot)
    WHERE claimed_by IS NULL AND hold = 5;
CREATE INDEX duly_runs_held ON duly.duly_runs (claimed_by, queue) WHERE claimed_by IS NOT NULL;
CREATE INDEX duly_runs_fair ON duly.duly_runs (queue, priority DESC, fair_key, due_at, slot)
    WHERE claimed_by IS NULL AND hold = 0 AND fair_key IS NOT NULL;
-- Only runs of a singleton key; the lane of a schedule's run is found by the schedule.
CREATE INDEX duly_runs_singleton ON duly.duly_runs (lane, hold, slot) WHERE schedule_id IS NULL AND lane IS NOT NULL;
CREATE INDEX duly_runs_alarm ON duly.duly_runs (due_at) WHERE hold = 4 AND claimed_by IS NULL;
-- Runs that await an answer from outside, by the deadline of that answer.
CREATE INDEX duly_runs_unanswered ON duly.duly_runs (due_at) WHERE hold = 3 AND claimed_by IS NULL;
-- Lists are ordered by the instant that a run is for (window_at). Almost all ids begin with that instant and need no
-- entry here. The undated ones are runs other than windows whose id begins with an instant 65 seconds or more away, and
-- all ids from 0x02 on, where hashes and random UUIDs almost always are. Lists of dated runs start below 0x02 (ADR 21).
CREATE INDEX duly_runs_undated ON duly.duly_runs ((coalesce(window_at, fired_at)), id)
    WHERE (id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')));

CREATE TABLE duly.duly_history (
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
    acked_at     bigint,
    -- Set for failed runs only: a redriven run keeps its time limit.
    timeout_ms   bigint,
    -- Set for failed runs of a singleton key only: a redriven run waits in the same lane.
    lane         uuid
);
CREATE INDEX duly_history_by_schedule ON duly.duly_history (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX duly_history_dead ON duly.duly_history (id) WHERE status = 'failed' AND acked_at IS NULL;
-- Runs whose id was chosen by a caller and does not start with an instant: retention finds them by their end. A run of
-- a window never has such an id; the first condition excludes it.
CREATE INDEX duly_history_foreign ON duly.duly_history (finished_at)
    WHERE kind IN ('direct', 'manual') AND substr(id::text, 15, 1) <> '7';
CREATE INDEX duly_history_singleton ON duly.duly_history (lane) WHERE lane IS NOT NULL;
CREATE INDEX duly_history_undated ON duly.duly_history ((coalesce(window_at, fired_at)), id)
    WHERE (id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')));
CREATE INDEX duly_history_undated_of ON duly.duly_history (schedule_id, (coalesce(window_at, fired_at)), id)
    WHERE schedule_id IS NOT NULL AND (id >= '02000000-0000-0000-0000-000000000000' OR
        (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')));
CREATE INDEX duly_history_undated_dead ON duly.duly_history ((coalesce(window_at, fired_at)), id)
    WHERE status = 'failed' AND acked_at IS NULL AND (id >= '02000000-0000-0000-0000-000000000000' OR
        (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')));

-- Every attempt that started a handler and did not complete. The last attempt of a run that completed or was cancelled
-- is derived from its history.
CREATE TABLE duly.duly_attempts (
    run_id     uuid NOT NULL,
    fence      bigint NOT NULL,
    attempt    int NOT NULL,
    outcome    text COLLATE "C" NOT NULL,
    error      text,
    started_at bigint,
    ended_at   bigint NOT NULL,
    session    bigint,
    -- Snoozed attempts only: how often the run has been snoozed. Older rows of them are deleted.
    snoozes    int,
    -- Of a failed attempt: what was raised, the line of the app that raised it, and the stack. Lists never read the stack.
    error_type      text,
    error_location  text,
    stack           text,
    stack_truncated boolean,
    PRIMARY KEY (run_id, fence)
);

CREATE TABLE duly.duly_instances (
    session    bigint PRIMARY KEY,
    name       text NOT NULL,
    host       text NOT NULL,
    pid        int NOT NULL,
    roles      text NOT NULL,
    version    text NOT NULL,
    tz_version text NOT NULL,
    jobs       text NOT NULL,
    started_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    -- How far the store's clock was ahead of the instance's clock at the last heartbeat but one.
    skew_ms    bigint
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- Sessions that have ended, for as long as the history names them.
CREATE TABLE duly.duly_ended_instances (
    session    bigint PRIMARY KEY,
    name       text NOT NULL,
    host       text NOT NULL,
    pid        int NOT NULL,
    roles      text NOT NULL,
    version    text NOT NULL,
    jobs       text NOT NULL,
    started_at bigint NOT NULL,
    ended_at   bigint NOT NULL,
    -- True where the lease ran out or the process died; false where the instance closed its session.
    lost       boolean NOT NULL
);
CREATE INDEX duly_ended_instances_ended ON duly.duly_ended_instances (ended_at);

CREATE TABLE duly.duly_leases (
    role       text COLLATE "C" PRIMARY KEY,
    session    bigint NOT NULL,
    term       bigint NOT NULL,
    expires_at bigint NOT NULL
);

-- The audit trail: one row per change of a schedule. Creating or firing a schedule writes nothing here.
CREATE TABLE duly.duly_changes (
    schedule_id uuid NOT NULL,
    number      int NOT NULL,
    made_at     bigint NOT NULL,
    made_by     text,
    action      text COLLATE "C" NOT NULL,
    revision    int NOT NULL,
    fields      text NOT NULL,
    PRIMARY KEY (schedule_id, number)
);

-- Operations that change many schedules or create many runs step by step: the request and its progress.
CREATE TABLE duly.duly_operations (
    id          uuid PRIMARY KEY,
    kind        text COLLATE "C" NOT NULL,
    body        text NOT NULL,
    made_at     bigint NOT NULL,
    made_by     text,
    status      text COLLATE "C" NOT NULL,
    position    uuid,
    matched     bigint NOT NULL,
    changed     bigint NOT NULL,
    refused     bigint NOT NULL,
    error       text,
    updated_at  bigint NOT NULL,
    finished_at bigint,
    -- The result for each schedule that was named in the request, and for each that could not be changed.
    items       text,
    tenant      text COLLATE "C",
    owner       text COLLATE "C"
);
CREATE INDEX duly_operations_running ON duly.duly_operations (updated_at) WHERE status = 'running';
CREATE INDEX duly_operations_finished ON duly.duly_operations (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX duly_operations_owner ON duly.duly_operations (tenant, owner, id) WHERE owner IS NOT NULL;
-- For audits: when firing was stopped, and which purges are running.
CREATE INDEX duly_operations_stops ON duly.duly_operations (made_at, id)
    WHERE kind IN ('pause_all', 'resume_all') OR (kind = 'purge' AND status = 'running');

-- One row per redrive: the failure it answers, and the new run if the payload was changed.
CREATE TABLE duly.duly_redrives (
    run_id      uuid NOT NULL,
    fence       bigint NOT NULL,
    redriven_at bigint NOT NULL,
    redriven_by text,
    made_run    uuid,
    PRIMARY KEY (run_id, fence)
);
CREATE INDEX duly_redrives_made ON duly.duly_redrives (made_run) WHERE made_run IS NOT NULL;

-- The job that handles dead letters of a job, as declared by the apps that know that job.
CREATE TABLE duly.duly_dead_handlers (
    job          text COLLATE "C" PRIMARY KEY,
    handler      text COLLATE "C" NOT NULL,
    queue        text COLLATE "C" NOT NULL,
    max_attempts int NOT NULL,
    timeout_ms   bigint
);
CREATE INDEX duly_dead_handlers_handler ON duly.duly_dead_handlers (handler);

-- Queues with limits or a pause. A claim on a governed queue locks its row, then counts.
CREATE TABLE duly.duly_queues (
    name         text COLLATE "C" PRIMARY KEY,
    governed     boolean NOT NULL,
    max_running  int,
    rate         int,
    per_ms       bigint,
    window_at    bigint,
    used         bigint NOT NULL,
    paused_at    bigint,
    paused_by    text,
    pause_reason text,
    updated_at   bigint NOT NULL,
    -- served: the fairness key that was served last; the next claim continues after it.
    fair         boolean NOT NULL DEFAULT false,
    newest_first boolean NOT NULL DEFAULT false,
    served       text COLLATE "C"
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);

-- Named sets of dates on which nothing fires. The id distinguishes a calendar from an earlier one of the same name.
CREATE TABLE duly.duly_calendars (
    tenant      text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    id          uuid NOT NULL UNIQUE,
    description text,
    body        text NOT NULL,
    revision    int NOT NULL,
    created_at  bigint NOT NULL,
    created_by  text,
    updated_at  bigint NOT NULL,
    updated_by  text,
    PRIMARY KEY (tenant, name)
);

-- Idempotency keys of requests and the stored responses. A row without a status is a request in progress, or one whose
-- outcome is unknown.
CREATE TABLE duly.duly_requests (
    tenant     text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    hash       text COLLATE "C" NOT NULL,
    status     int,
    answer     text,
    expires_at bigint NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX duly_requests_expiry ON duly.duly_requests (expires_at);

-- Singleton keys and how many runs of each may run at once. Counting and releasing lock the row.
CREATE TABLE duly.duly_lanes (
    id          uuid PRIMARY KEY,
    tenant      text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    max_running int NOT NULL,
    tickets     bigint NOT NULL,
    used_at     bigint NOT NULL,
    -- Each owner has keys of their own, so a key delays nobody else and reveals nothing to them.
    owner       text COLLATE "C" NOT NULL DEFAULT ''
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
CREATE INDEX duly_lanes_used ON duly.duly_lanes (used_at);

-- Unique keys: at most one open run each. The last run keeps the key until expires_at, even after it has ended.
CREATE TABLE duly.duly_uniques (
    tenant     text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    run_id     uuid NOT NULL,
    expires_at bigint NOT NULL,
    owner      text COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (tenant, owner, key)
);
CREATE INDEX duly_uniques_expiry ON duly.duly_uniques (expires_at);

-- API keys. A revoked key stays here, so that it is recognized and the API stays closed.
CREATE TABLE duly.duly_keys (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    digest       text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    owner        text COLLATE "C",
    tenant       text COLLATE "C" NOT NULL,
    scopes       text COLLATE "C" NOT NULL,
    quotas       text,
    created_at   bigint NOT NULL,
    created_by   text,
    expires_at   bigint,
    revoked_at   bigint,
    last_used_at bigint,
    replaces     text COLLATE "C",
    -- The queues that a worker's key is limited to, as a JSON list; NULL for all.
    queues       text COLLATE "C"
);

-- Owners of runs without a schedule; other runs belong to the owner of their schedule.
CREATE TABLE duly.duly_owners (
    run_id uuid NOT NULL PRIMARY KEY,
    owner  text COLLATE "C" NOT NULL
);

-- Events, written by the transaction that causes them, and only while somebody watches. A reader numbers an event once
-- it is committed; readers follow the order of these numbers.
CREATE TABLE duly.duly_events (
    seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number      bigint,
    at          bigint NOT NULL,
    name        text COLLATE "C" NOT NULL,
    tenant      text COLLATE "C",
    owner       text COLLATE "C",
    schedule_id uuid,
    key         text COLLATE "C",
    run_id      uuid,
    job         text COLLATE "C",
    attempt     int,
    reason      text,
    error       text
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE UNIQUE INDEX duly_events_number ON duly.duly_events (number) WHERE number IS NOT NULL;
CREATE INDEX duly_events_new ON duly.duly_events (seq) WHERE number IS NULL;

-- One row: the time span in which somebody watches, the last number assigned and the last number deleted.
CREATE TABLE duly.duly_watch (
    since   bigint NOT NULL,
    until   bigint NOT NULL,
    settled boolean NOT NULL,
    last    bigint NOT NULL,
    gone    bigint NOT NULL,
    -- Names of the events that some webhook wants; for other events no webhooks are looked up.
    wanted  text NOT NULL DEFAULT '[]'
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
CREATE UNIQUE INDEX duly_watch_one ON duly.duly_watch ((true));

-- Workflows: one row per step (duly_steps), waiting messages (duly_inbox), child runs (duly_children) and published
-- values (duly_published).
CREATE TABLE duly.duly_steps (
    run_id   uuid NOT NULL,
    position bigint NOT NULL,
    seq      bigint,
    kind     text NOT NULL,
    name     text NOT NULL,
    status   text NOT NULL,
    attempt  bigint NOT NULL,
    due_at   bigint,
    result   text,
    error    text,
    log      text,
    asked_at bigint NOT NULL,
    done_at  bigint,
    PRIMARY KEY (run_id, position)
);
CREATE INDEX duly_steps_events ON duly.duly_steps (name, run_id) WHERE kind = 'event' AND status = 'asked';

CREATE TABLE duly.duly_inbox (
    run_id uuid NOT NULL,
    n      bigint NOT NULL,
    kind   text NOT NULL,
    name   text NOT NULL,
    body   text,
    error  text,
    at     bigint NOT NULL,
    taken  bigint NOT NULL,
    PRIMARY KEY (run_id, n)
);

CREATE TABLE duly.duly_children (
    run_id    uuid NOT NULL PRIMARY KEY,
    parent_id uuid NOT NULL,
    position  bigint NOT NULL
);
CREATE INDEX duly_children_parent ON duly.duly_children (parent_id);

CREATE TABLE duly.duly_published (
    run_id uuid NOT NULL,
    name   text NOT NULL,
    value  text NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (run_id, name)
);

-- Webhooks. Secrets are stored in plain text because messages are signed with them.
CREATE TABLE duly.duly_webhooks (
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
CREATE INDEX duly_webhooks_owner ON duly.duly_webhooks (tenant, owner, id) WHERE owner IS NOT NULL;

-- The inverse of duly_webhooks: the webhooks that want an event of a schedule, an owner, a tenant or anybody.
CREATE TABLE duly.duly_interests (
    event      text COLLATE "C" NOT NULL,
    subject    text COLLATE "C" NOT NULL,
    webhook_id uuid NOT NULL,
    PRIMARY KEY (event, subject, webhook_id)
);
CREATE INDEX duly_interests_webhook ON duly.duly_interests (webhook_id);

-- Schedules reported as overdue: one event when that begins and one when it is over.
CREATE TABLE duly.duly_overdue (
    schedule_id uuid NOT NULL PRIMARY KEY,
    since       bigint NOT NULL
);

-- Search attributes of workflow runs: tags (the name begins with #) and attributes, whose value is JSON.
CREATE TABLE duly.duly_marks (
    run_id uuid NOT NULL,
    name   text COLLATE "C" NOT NULL,
    value  text COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, name)
);
CREATE INDEX duly_marks_value ON duly.duly_marks (name, value, run_id);
CREATE INDEX duly_marks_name ON duly.duly_marks (name, run_id);

-- Secrets of the store, which sign the tokens that it issues.
CREATE TABLE duly.duly_secrets (
    name  text COLLATE "C" PRIMARY KEY,
    value text NOT NULL
);

-- W3C trace contexts of the requests that created a run or a schedule.
CREATE TABLE duly.duly_traces (
    id    uuid PRIMARY KEY,
    trace text COLLATE "C" NOT NULL
);

-- Jobs and workflows that an event starts; every app writes those of its own code when it starts.
CREATE TABLE duly.duly_event_handlers (
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
CREATE INDEX duly_event_handlers_job ON duly.duly_event_handlers (job);

-- The run that still collects events, for handlers that batch or debounce. Adding an event locks the row.
CREATE TABLE duly.duly_gatherings (
    event  text COLLATE "C" NOT NULL,
    job    text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    owner  text COLLATE "C" NOT NULL,
    run_id uuid,
    n      int NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (event, job, tenant, owner)
);
CREATE INDEX duly_gatherings_at ON duly.duly_gatherings (at);

-- Ids of published events, kept for as long as a repeated id is a duplicate.
CREATE TABLE duly.duly_event_ids (
    tenant     text COLLATE "C" NOT NULL,
    owner      text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (tenant, owner, id)
);
CREATE INDEX duly_event_ids_expiry ON duly.duly_event_ids (expires_at);

-- The distinct (queue, priority) pairs of claimable runs: one index probe each, however many runs wait.
CREATE VIEW duly.duly_lines AS
WITH RECURSIVE lines AS (
    (
        SELECT queue, priority
        FROM duly.duly_runs
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
            FROM duly.duly_runs AS r
            WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue = lines.queue AND r.priority < lines.priority
            ORDER BY r.priority DESC
            LIMIT 1
        )
        UNION ALL
        (
            SELECT r.queue, r.priority
            FROM duly.duly_runs AS r
            WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.queue > lines.queue
            ORDER BY r.queue, r.priority DESC
            LIMIT 1
        )
        LIMIT 1
    ) AS next
)
SELECT queue, priority FROM lines;

-- Open and ended runs. Types and collations of both halves agree, so each half uses its own indexes.
CREATE VIEW duly.duly_all_runs AS
SELECT
    id, schedule_id, revision, kind,
    CASE
        WHEN undo_at IS NOT NULL THEN 'cancelling' COLLATE "C"
        WHEN claimed_by IS NOT NULL THEN 'running' COLLATE "C"
        WHEN hold = 3 THEN 'dispatched' COLLATE "C"
        WHEN hold = 4 THEN 'suspended' COLLATE "C"
        ELSE 'pending' COLLATE "C"
    END AS status,
    NULL::text COLLATE "C" AS reason, tenant, window_at, NULL::bigint AS since, NULL::int AS windows, job, queue,
    priority, hold, due_at, attempt, max_attempts, fence, claimed_by AS session, fired_at, started_at,
    NULL::bigint AS finished_at, cancel_at IS NOT NULL AS cancel_requested, NULL::text AS error, payload,
    NULL::text AS result, NULL::bigint AS acked_at
FROM duly.duly_runs
UNION ALL
SELECT
    id, schedule_id, revision, kind, status, reason, tenant, window_at, since, windows, job, queue, priority,
    0::smallint, due_at, attempt, max_attempts, fence, session, fired_at, started_at, finished_at, false, error,
    payload, result, acked_at
FROM duly.duly_history;

CREATE VIEW duly.duly_owned_runs (id, tenant, owner) AS
SELECT r.id, r.tenant, coalesce(o.owner, s.owner) FROM duly.duly_runs AS r
LEFT JOIN duly.duly_schedules AS s ON s.id = r.schedule_id
LEFT JOIN duly.duly_owners AS o ON o.run_id = r.id
UNION ALL
SELECT h.id, h.tenant, coalesce(o.owner, s.owner) FROM duly.duly_history AS h
LEFT JOIN duly.duly_schedules AS s ON s.id = h.schedule_id
LEFT JOIN duly.duly_owners AS o ON o.run_id = h.id;

-- undated is a column instead of a condition: only then can the planner merge the indexes of both tables.
CREATE VIEW duly.duly_listed_runs (at, id, schedule_id, tenant, job, status, undated) AS
SELECT
    coalesce(window_at, fired_at), id, schedule_id, tenant, job,
    CASE
        WHEN undo_at IS NOT NULL THEN 'cancelling' COLLATE "C"
        WHEN claimed_by IS NOT NULL THEN 'running' COLLATE "C"
        WHEN hold = 3 THEN 'dispatched' COLLATE "C"
        WHEN hold = 4 THEN 'suspended' COLLATE "C"
        ELSE 'pending' COLLATE "C"
    END,
    id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0'))
FROM duly.duly_runs
UNION ALL
SELECT
    coalesce(window_at, fired_at), id, schedule_id, tenant, job, status,
    id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0'))
FROM duly.duly_history;

INSERT INTO duly.duly_meta (store_id, epoch, schema) VALUES (gen_random_uuid()::text, 1, 1);

INSERT INTO duly.duly_watch (since, until, settled, last, gone) VALUES (0, 0, true, 0, 0);

INSERT INTO duly.duly_secrets VALUES ('hooks', gen_random_uuid()::text || gen_random_uuid()::text);
