WITH asked (tenant, name, id, revision) AS (VALUES (:tenant, :name, :id, :revision))
SELECT
    c.tenant, c.name, c.id, c.revision,
    CASE WHEN c.id IS asked.id AND c.revision IS asked.revision THEN NULL ELSE c.body END
FROM asked CROSS JOIN duly_calendars AS c
WHERE c.tenant = asked.tenant AND c.name = asked.name
