-- One that was used since we looked stays: its row is another by then. Dead letters keep theirs.
DELETE FROM duly_lanes AS l
WHERE l.used_at <= :before::bigint
  AND l.id IN (
    SELECT i.id FROM duly_lanes AS i
    WHERE i.used_at <= :before::bigint
      AND NOT EXISTS (SELECT FROM duly_runs AS r WHERE r.lane = i.id AND r.schedule_id IS NULL)
      AND NOT EXISTS (SELECT FROM duly_history AS h WHERE h.lane = i.id)
    LIMIT :limit::bigint
)
RETURNING l.key
