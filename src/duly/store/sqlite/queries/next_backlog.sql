SELECT min(fire_at) FROM duly_cursors
WHERE fire_at IS NOT NULL
