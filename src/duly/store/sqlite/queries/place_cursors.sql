-- The cursors of schedules that are new. Behind: how many of its tenant follow one of those whose slots were just taken.
INSERT INTO duly_cursors (
    schedule_id, revision, status, next_window_at, fire_at, slot, fired, failures, tenant
)
VALUES (
    :schedule_id, 1, 'pending', :next_window_at, :fire_at,
    (SELECT slots FROM duly_tenants WHERE id = :tenant) - :behind, 0, 0, :tenant
)
