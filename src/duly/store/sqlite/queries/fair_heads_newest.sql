-- The newest runs of each key, up to a quota.
SELECT head.fair_key, head.id
FROM json_each(:keys) AS k
CROSS JOIN duly_runs AS head
WHERE head.rowid IN (
    SELECT r.rowid FROM duly_runs AS r
    WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.fair_key IS NOT NULL
      AND r.queue = :queue AND r.priority = :priority AND r.fair_key = k.value AND r.due_at <= :now
      AND (r.job IN (SELECT value FROM json_each(:jobs))
        OR (r.job GLOB 'topic:*' AND 'topic:*' IN (SELECT value FROM json_each(:jobs))))
    ORDER BY r.due_at DESC, r.slot DESC
    LIMIT :quota
)
ORDER BY head.due_at DESC, head.slot DESC, head.id DESC
