SELECT min(fire_at) FROM duly.duly_cursors
WHERE fire_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM duly.duly_meta WHERE firing_paused_at IS NOT NULL)
