-- Differs from postgres: one arm per index; an arm whose constant condition is false costs nothing.
SELECT id FROM duly_schedules
WHERE NOT :by_key AND id = :ref AND deleted_at IS NULL AND (:tenant IS NULL OR tenant = :tenant)
UNION ALL
SELECT id FROM duly_schedules
WHERE :by_key AND :tenant IS NOT NULL AND tenant = :tenant AND key = :ref AND deleted_at IS NULL
UNION ALL
SELECT s.id FROM duly_tenants AS t CROSS JOIN duly_schedules AS s
WHERE :by_key AND :tenant IS NULL AND s.tenant = t.id AND s.key = :ref AND s.deleted_at IS NULL
ORDER BY id
LIMIT 1
