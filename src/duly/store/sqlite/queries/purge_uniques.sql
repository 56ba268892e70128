DELETE FROM duly_uniques
WHERE rowid IN (
    SELECT u.rowid FROM duly_uniques AS u
    WHERE u.expires_at <= :now AND NOT EXISTS (SELECT 1 FROM duly_runs AS r WHERE r.id = u.run_id)
    LIMIT :limit
)
RETURNING key
