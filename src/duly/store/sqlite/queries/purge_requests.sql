DELETE FROM duly_requests
WHERE rowid IN (SELECT rowid FROM duly_requests WHERE expires_at <= :now LIMIT :limit)
RETURNING key
