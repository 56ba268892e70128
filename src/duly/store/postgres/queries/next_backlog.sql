SELECT min(fire_at) FROM duly.duly_cursors
WHERE fire_at IS NOT NULL
