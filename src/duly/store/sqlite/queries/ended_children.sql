SELECT h.id
FROM duly_children AS c
-- CROSS keeps the order: few children, each looked up among the ended runs.
CROSS JOIN duly_history AS h ON h.id = c.run_id
WHERE c.parent_id IN (SELECT value FROM json_each(:ids)) AND c.position > 0
