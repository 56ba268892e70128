-- Lists go by the instant that a run is for (window_at). Nearly all ids begin with it, and have no entry here; undated
-- are those of other kinds than windows whose id begins with another 65 seconds, and all ids from 0x02 on: a hash or a
-- random UUID is nearly always there, and who lists dated ones begins below.
-- Each index is made in one look at the history. Where that has too many rows to hold up writes for so long, make them
-- beforehand: those that are there are left as they are.
CREATE INDEX IF NOT EXISTS duly_runs_undated ON duly_runs ((coalesce(window_at, fired_at)), id)
    WHERE (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));
CREATE INDEX IF NOT EXISTS duly_history_undated ON duly_history ((coalesce(window_at, fired_at)), id)
    WHERE (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));
CREATE INDEX IF NOT EXISTS duly_history_undated_of ON duly_history (schedule_id, (coalesce(window_at, fired_at)), id)
    WHERE schedule_id IS NOT NULL AND (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));
CREATE INDEX IF NOT EXISTS duly_history_undated_dead ON duly_history ((coalesce(window_at, fired_at)), id)
    WHERE status = 'failed' AND acked_at IS NULL AND (id >= '02' OR (kind <> 'window' AND kind <> 'backfill'
        AND substr(id, 1, 8) <> printf('%08x', coalesce(window_at, fired_at) >> 16)));

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

-- Whoever reads these begins below 0x02: with that said here, too, SQLite would begin there on every page.
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
