UPDATE duly.duly_meta SET
    firing_paused_at = coalesce(firing_paused_at, :now::bigint), firing_paused_by = :by::text, firing_pause_reason = :reason::text
