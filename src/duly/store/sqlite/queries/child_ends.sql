SELECT c.parent_id, c.position, h.status, h.result, h.error
FROM duly_children AS c
JOIN duly_history AS h ON h.id = c.run_id
WHERE c.run_id IN (SELECT value FROM json_each(:ids))
ORDER BY c.parent_id, c.position
