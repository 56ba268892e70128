-- The keys of a line from one key on, and whether each has a run that is due: one probe of the index each.
WITH RECURSIVE keys (fair_key) AS (
    SELECT min(fair_key) FROM duly_runs
    WHERE claimed_by IS NULL AND hold = 0 AND fair_key IS NOT NULL
      AND queue = :queue AND priority = :priority AND fair_key >= :least
    UNION ALL
    SELECT (
        SELECT min(r.fair_key) FROM duly_runs AS r
        WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.fair_key IS NOT NULL
          AND r.queue = :queue AND r.priority = :priority AND r.fair_key > keys.fair_key
    )
    FROM keys WHERE keys.fair_key IS NOT NULL
)
SELECT fair_key, EXISTS (
    SELECT 1 FROM duly_runs AS r
    WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.fair_key IS NOT NULL
      AND r.queue = :queue AND r.priority = :priority AND r.fair_key = keys.fair_key AND r.due_at <= :now
)
FROM keys WHERE fair_key IS NOT NULL LIMIT :limit
