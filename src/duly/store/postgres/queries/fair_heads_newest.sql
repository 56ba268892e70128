-- The newest runs of each key, up to a quota.
SELECT k.key, head.id::text
FROM pg_catalog.unnest(:keys::text[]) AS k (key)
CROSS JOIN LATERAL (
    SELECT r.id, r.due_at, r.slot
    FROM duly.duly_runs AS r
    WHERE r.claimed_by IS NULL AND r.hold = 0 AND r.fair_key IS NOT NULL
      AND r.queue = :queue::text AND r.priority = :priority::int AND r.fair_key = k.key AND r.due_at <= :now::bigint
      AND (r.job = ANY (:jobs::text[]) OR (r.job LIKE 'topic:%' AND 'topic:*' = ANY (:jobs::text[])))
    ORDER BY r.due_at DESC, r.slot DESC
    LIMIT :quota::bigint
) AS head
ORDER BY head.due_at DESC, head.slot DESC, head.id DESC
