UPDATE duly.duly_queues
SET governed = :governed::boolean, max_running = :max_running::int, rate = :rate::int, per_ms = :per_ms::bigint,
    window_at = :window_at::bigint, used = :used::bigint, fair = :fair::boolean,
    newest_first = :newest_first::boolean, served = :served::text, paused_at = :paused_at::bigint,
    paused_by = :paused_by::text, pause_reason = :pause_reason::text, updated_at = :updated_at::bigint
WHERE name = :name::text
