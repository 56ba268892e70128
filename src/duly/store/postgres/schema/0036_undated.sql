-- Lists go by the instant that a run is for (window_at). Nearly all ids begin with it, and have no entry here; undated
-- are those of other kinds than windows whose id begins with another 65 seconds, and all ids from 0x02 on: a hash or a
-- random UUID is nearly always there, and who lists dated ones begins below.
-- Each index is made in one look at the history. Where that has too many rows to hold up writes for so long, make them
-- beforehand with CREATE INDEX CONCURRENTLY: those that are there are left as they are.
CREATE INDEX IF NOT EXISTS duly_runs_undated ON duly_runs ((coalesce(window_at, fired_at)), id)
    WHERE (id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')));
CREATE INDEX IF NOT EXISTS duly_history_undated ON duly_history ((coalesce(window_at, fired_at)), id)
    WHERE (id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')));
CREATE INDEX IF NOT EXISTS duly_history_undated_of ON duly_history (schedule_id, (coalesce(window_at, fired_at)), id)
    WHERE schedule_id IS NOT NULL AND (id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')));
CREATE INDEX IF NOT EXISTS duly_history_undated_dead ON duly_history ((coalesce(window_at, fired_at)), id)
    WHERE status = 'failed' AND acked_at IS NULL AND (id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0')));

-- A column, not a condition: only so does the planner see that the indexes of both tables can be merged.
CREATE VIEW duly_listed_runs (at, id, schedule_id, tenant, job, status, undated) AS
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
FROM duly_runs
UNION ALL
SELECT
    coalesce(window_at, fired_at), id, schedule_id, tenant, job, status,
    id >= '02000000-0000-0000-0000-000000000000' OR (kind <> 'window' AND kind <> 'backfill'
        AND left(id::text, 8) <> lpad(to_hex(coalesce(window_at, fired_at) >> 16), 8, '0'))
FROM duly_history;
