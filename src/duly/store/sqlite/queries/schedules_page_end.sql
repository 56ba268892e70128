-- Where a page that looks at so many schedules ends; nothing if there are fewer. An owner has few, and an index.
SELECT id FROM duly_schedules
WHERE :owner IS NULL AND id > coalesce(:after, '') ORDER BY id LIMIT 1 OFFSET :most
