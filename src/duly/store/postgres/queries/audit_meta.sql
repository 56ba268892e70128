SELECT firing_paused_at, purged_before FROM duly.duly_meta
