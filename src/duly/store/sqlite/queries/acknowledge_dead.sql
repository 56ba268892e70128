WITH dead (id, fence) AS (VALUES (:id, :fence))
UPDATE duly_history SET acked_at = :now
WHERE rowid IN (
    SELECT h.rowid FROM dead CROSS JOIN duly_history AS h
    WHERE h.id = dead.id AND h.fence = dead.fence AND +h.status = 'failed' AND h.acked_at IS NULL
)
RETURNING id
