DELETE FROM duly_gatherings
WHERE rowid IN (
    SELECT g.rowid FROM duly_gatherings AS g
    WHERE g.at <= :before AND NOT EXISTS (SELECT 1 FROM duly_runs AS r WHERE r.id = g.run_id)
    LIMIT :limit
)
RETURNING job
