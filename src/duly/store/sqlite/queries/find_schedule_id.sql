-- Differs from postgres: one arm per index; an arm whose constant condition is false costs nothing.
-- A key without a tenant may be held by several: more than two are not worth telling apart.
SELECT id FROM duly_schedules
WHERE NOT :by_key AND id = :ref AND deleted_at IS NULL AND (:tenant IS NULL OR tenant = :tenant)
  AND (:owner IS NULL OR owner = :owner)
UNION ALL
SELECT id FROM duly_schedules
WHERE :by_key AND :tenant IS NOT NULL AND tenant = :tenant AND key = :ref AND deleted_at IS NULL
  AND (:owner IS NULL OR owner = :owner)
UNION ALL
SELECT s.id FROM duly_tenants AS t CROSS JOIN duly_schedules AS s
WHERE :by_key AND :tenant IS NULL AND s.tenant = t.id AND s.key = :ref AND s.deleted_at IS NULL
  AND (:owner IS NULL OR s.owner = :owner)
ORDER BY id
LIMIT 3
