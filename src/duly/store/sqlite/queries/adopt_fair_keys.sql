-- A queue became fair while runs waited in it.
UPDATE duly_runs SET fair_key = tenant
WHERE rowid IN (
    SELECT r.rowid
    FROM duly_queues AS q
    CROSS JOIN duly_runs AS r
    WHERE q.fair AND q.updated_at >= :changed_after
      AND r.claimed_by IS NULL AND r.hold = 0 AND r.queue = q.name AND r.fair_key IS NULL
    LIMIT :limit
)
RETURNING 1
