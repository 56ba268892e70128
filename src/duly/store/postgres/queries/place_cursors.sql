-- The cursors of schedules that are new. Behind: how many of its tenant follow one of those whose slots were just taken.
-- Spread: see insert_runs; where all are of one tenant, its row is read once.
INSERT INTO duly.duly_cursors (
    schedule_id, revision, status, next_window_at, fire_at, slot, fired, failures, tenant
)
SELECT
    n.schedule_id, 1, 'pending', n.next_window_at, n.fire_at,
    CASE
        WHEN n.tenant IS NULL THEN (SELECT slots FROM duly.duly_tenants WHERE id = (:tenant::text[])[1])
        ELSE (SELECT slots FROM duly.duly_tenants WHERE id = n.tenant)
    END - n.behind, 0, 0, coalesce(n.tenant, (:tenant::text[])[1])
FROM unnest(:schedule_id::uuid[], :next_window_at::bigint[], :fire_at::bigint[], :behind::bigint[], :tenant::text[])
    AS n (schedule_id, next_window_at, fire_at, behind, tenant)
