-- Dead letters keep theirs.
DELETE FROM duly_lanes
WHERE id IN (
    SELECT l.id FROM duly_lanes AS l
    WHERE l.used_at <= :before
      AND NOT EXISTS (SELECT 1 FROM duly_runs AS r WHERE r.lane = l.id AND r.schedule_id IS NULL)
      AND NOT EXISTS (SELECT 1 FROM duly_history AS h WHERE h.lane = l.id)
    LIMIT :limit
)
RETURNING key
