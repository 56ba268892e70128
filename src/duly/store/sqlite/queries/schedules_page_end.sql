-- Where a page that looks at so many schedules ends, along the index that its list walks; nothing if there are fewer.
-- An owner has few, and an index. Of a job in all tenants, few are walked without an end, and many as if all were.
WITH many AS MATERIALIZED (
    SELECT 1 WHERE :job IS NULL OR :most < (SELECT count(*) FROM (
        SELECT 1 FROM duly_tenants AS t CROSS JOIN duly_schedules AS s
        WHERE s.tenant = t.id AND s.job = :job AND s.deleted_at IS NULL AND s.id > coalesce(:after, '')
        LIMIT :most + 1))
)
SELECT id FROM (
    SELECT s.id FROM many CROSS JOIN duly_schedules AS s
    WHERE :owner IS NULL AND :tenant IS NULL AND s.id > coalesce(:after, '')
    ORDER BY s.id LIMIT 1 OFFSET :most)
UNION ALL
SELECT id FROM (
    SELECT id FROM duly_schedules
    WHERE :owner IS NULL AND :job IS NULL AND tenant = :tenant AND deleted_at IS NULL AND id > coalesce(:after, '')
    ORDER BY id LIMIT 1 OFFSET :most)
UNION ALL
SELECT id FROM (
    SELECT id FROM duly_schedules
    WHERE :owner IS NULL AND tenant = :tenant AND job = :job AND deleted_at IS NULL AND id > coalesce(:after, '')
    ORDER BY id LIMIT 1 OFFSET :most)
