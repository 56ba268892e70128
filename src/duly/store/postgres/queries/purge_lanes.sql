-- One that was entered since we looked stays: its row is another by then. Dead letters keep theirs.
DELETE FROM duly.duly_lanes AS l
USING (
    SELECT i.id, i.ctid AS seen FROM duly.duly_lanes AS i
    WHERE i.used_at <= :before::bigint
      AND NOT EXISTS (SELECT FROM duly.duly_runs AS r WHERE r.lane = i.id AND r.schedule_id IS NULL)
      AND NOT EXISTS (SELECT FROM duly.duly_history AS h WHERE h.lane = i.id)
    LIMIT :limit::bigint
    FOR UPDATE OF i SKIP LOCKED
) AS old
WHERE l.id = old.id AND l.ctid = old.seen
RETURNING l.key
