-- Unprepared: whether there was a page before decides the plan.
-- Where a page that looks at so many schedules ends; nothing if there are fewer. An owner has few, and an index.
SELECT s.id::text FROM duly_schedules AS s
WHERE :owner::text IS NULL AND (:after::uuid IS NULL OR s.id > :after::uuid)
ORDER BY s.id
LIMIT 1 OFFSET :most::bigint
