UPDATE duly.duly_meta SET
    firing_paused_at = NULL, firing_paused_by = NULL, firing_pause_reason = NULL, restored_at = NULL
