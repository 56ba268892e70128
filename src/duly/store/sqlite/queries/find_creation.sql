-- A deleted schedule is found too. By key, it is the one that was deleted last: one that lives has been looked for.
SELECT id, created_at, created_by FROM duly_schedules
WHERE id = :id AND (:tenant IS NULL OR tenant = :tenant) AND (:owner IS NULL OR owner = :owner)
UNION ALL
SELECT * FROM (
    SELECT id, created_at, created_by FROM duly_schedules
    WHERE :id IS NULL AND deleted_at IS NOT NULL AND key = :key AND (:tenant IS NULL OR tenant = :tenant)
        AND (:owner IS NULL OR owner = :owner)
    ORDER BY deleted_at DESC
    LIMIT 1
)
LIMIT 1
