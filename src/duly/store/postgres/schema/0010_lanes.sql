-- Singleton keys that runs were enqueued with: how many may go at once. Whoever counts or releases locks the row.
CREATE TABLE duly_lanes (
    id          uuid PRIMARY KEY,
    tenant      text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    max_running int NOT NULL,
    tickets     bigint NOT NULL,
    used_at     bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
CREATE INDEX duly_lanes_used ON duly_lanes (used_at);

-- Only runs of a singleton key have an entry here: those of schedules find their lane by the schedule.
CREATE INDEX duly_runs_singleton ON duly_runs (lane, hold, slot) WHERE schedule_id IS NULL AND lane IS NOT NULL;

-- Written for failed runs of a singleton key only: a redriven one waits in the lane that it was in.
ALTER TABLE duly_history ADD COLUMN lane uuid;
CREATE INDEX duly_history_singleton ON duly_history (lane) WHERE lane IS NOT NULL;

-- Keys of which one run may be open, and until when the run that was enqueued last keeps it also after its end.
CREATE TABLE duly_uniques (
    tenant     text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    run_id     uuid NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX duly_uniques_expiry ON duly_uniques (expires_at);
