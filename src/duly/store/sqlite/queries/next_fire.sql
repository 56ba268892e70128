SELECT min(fire_at) FROM duly_cursors
WHERE fire_at IS NOT NULL AND (SELECT firing_paused_at FROM duly_meta) IS NULL
