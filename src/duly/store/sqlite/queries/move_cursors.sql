UPDATE duly_cursors SET
    revision = :revision, status = :status, window_at = :window_at, next_window_at = :next_window_at,
    fire_at = :fire_at, slot = :slot, fired = :fired, failures = :failures, last_fired_at = :last_fired_at,
    error = :error
WHERE schedule_id = :schedule_id
