-- Unprepared: only one of the two is asked for.
-- A deleted schedule is found too. By key, it is the one that was deleted last: one that lives has been looked for.
SELECT s.id::text, s.created_at, s.created_by
FROM duly.duly_schedules AS s
WHERE s.id = :id::uuid AND (:tenant::text IS NULL OR s.tenant = :tenant::text)
  AND (:owner::text IS NULL OR s.owner = :owner::text)
UNION ALL
(
    SELECT s.id::text, s.created_at, s.created_by
    FROM duly.duly_schedules AS s
    WHERE :id::uuid IS NULL AND s.deleted_at IS NOT NULL AND s.key = :key::text
      AND (:tenant::text IS NULL OR s.tenant = :tenant::text)
      AND (:owner::text IS NULL OR s.owner = :owner::text)
    ORDER BY s.deleted_at DESC
    LIMIT 1
)
LIMIT 1
