SELECT 1 FROM duly.duly_meta WHERE firing_paused_at IS NOT NULL
