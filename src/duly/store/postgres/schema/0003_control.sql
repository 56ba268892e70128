-- Who changed what of a schedule, one row per change; nothing is written when a schedule is created or fires.
CREATE TABLE duly_changes (
    schedule_id uuid NOT NULL,
    number      int NOT NULL,
    made_at     bigint NOT NULL,
    made_by     text,
    action      text COLLATE "C" NOT NULL,
    revision    int NOT NULL,
    fields      text NOT NULL,
    PRIMARY KEY (schedule_id, number)
);

-- What is done to many schedules, or makes many runs, step by step: what was asked, and how far it has come.
CREATE TABLE duly_operations (
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
    finished_at bigint
);
CREATE INDEX duly_operations_running ON duly_operations (updated_at) WHERE status = 'running';
CREATE INDEX duly_operations_finished ON duly_operations (finished_at) WHERE finished_at IS NOT NULL;

ALTER TABLE duly_meta
    ADD COLUMN firing_paused_by text,
    ADD COLUMN firing_pause_reason text,
    ADD COLUMN restored_at bigint,
    ADD COLUMN ticks bigint NOT NULL DEFAULT 0,
    ADD COLUMN home text;
