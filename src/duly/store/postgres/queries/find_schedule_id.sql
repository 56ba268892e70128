-- A reference is an id or a key; a key without a tenant is looked up in every tenant, one probe of the index each.
-- Several tenants may hold it: more than two are not worth telling apart.
-- + 0: an id must be found by itself, also by a plan of the days when the table was empty and every index looked short.
SELECT s.id::text
FROM duly.duly_schedules AS s
WHERE s.id = CASE WHEN NOT :by_key::boolean THEN :ref::text::uuid END
  AND s.deleted_at + 0 IS NULL
  AND (:tenant::text IS NULL OR s.tenant = :tenant::text)
  AND (:owner::text IS NULL OR s.owner = :owner::text)
UNION ALL
SELECT s.id::text
FROM duly.duly_schedules AS s
WHERE :by_key::boolean AND s.tenant = :tenant::text AND s.key = :ref::text AND s.deleted_at IS NULL
  AND (:owner::text IS NULL OR s.owner = :owner::text)
UNION ALL
SELECT s.id::text
FROM duly.duly_tenants AS t
JOIN duly.duly_schedules AS s ON s.tenant = t.id AND s.key = :ref::text AND s.deleted_at IS NULL
WHERE :by_key::boolean AND :tenant::text IS NULL AND (:owner::text IS NULL OR s.owner = :owner::text)
ORDER BY 1
LIMIT 3
