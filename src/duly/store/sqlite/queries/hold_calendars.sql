-- Differs from postgres: no row locks, a write transaction is alone.
WITH asked (tenant, name) AS (VALUES (:tenant, :name))
SELECT c.tenant, c.name
FROM asked CROSS JOIN duly_calendars AS c
WHERE c.tenant = asked.tenant AND c.name = asked.name
