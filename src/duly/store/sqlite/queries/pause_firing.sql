UPDATE duly_meta SET
    firing_paused_at = coalesce(firing_paused_at, :now), firing_paused_by = :by, firing_pause_reason = :reason
