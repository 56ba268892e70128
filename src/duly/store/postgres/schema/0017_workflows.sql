-- What workflows record. A row per step; messages that wait; who waits for whose end; values that bodies show.
CREATE TABLE duly_steps (
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

CREATE INDEX duly_steps_events ON duly_steps (name, run_id) WHERE kind = 'event' AND status = 'asked';

CREATE TABLE duly_inbox (
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

CREATE TABLE duly_children (
    run_id    uuid NOT NULL PRIMARY KEY,
    parent_id uuid NOT NULL,
    position  bigint NOT NULL
);

CREATE INDEX duly_children_parent ON duly_children (parent_id);

CREATE TABLE duly_published (
    run_id uuid NOT NULL,
    name   text NOT NULL,
    value  text NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (run_id, name)
);

CREATE INDEX duly_runs_alarm ON duly_runs (due_at) WHERE hold = 4 AND claimed_by IS NULL;
