DELETE FROM duly_event_ids
WHERE rowid IN (SELECT e.rowid FROM duly_event_ids AS e WHERE e.expires_at <= :now LIMIT :limit)
RETURNING id
