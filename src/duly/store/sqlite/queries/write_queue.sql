UPDATE duly_queues SET
    governed = :governed, max_running = :max_running, rate = :rate, per_ms = :per_ms, window_at = :window_at,
    used = :used, fair = :fair, newest_first = :newest_first, served = :served, paused_at = :paused_at, paused_by = :paused_by, pause_reason = :pause_reason,
    updated_at = :updated_at
WHERE name = :name
