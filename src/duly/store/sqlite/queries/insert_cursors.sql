INSERT INTO duly_cursors (
    schedule_id, revision, status, window_at, next_window_at, fire_at, slot, fired, failures, last_fired_at, error,
    tenant
)
VALUES (
    :schedule_id, :revision, :status, :window_at, :next_window_at, :fire_at, :slot, :fired, :failures, :last_fired_at,
    :error, :tenant
)
ON CONFLICT DO NOTHING
