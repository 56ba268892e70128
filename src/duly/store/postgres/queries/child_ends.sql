-- Each end is told once, however often a child is redriven; nobody waits for those at position 0.
SELECT c.parent_id::text, c.position, h.status, h.result, h.error
FROM duly.duly_children AS c
JOIN duly.duly_history AS h ON h.id = c.run_id
WHERE c.run_id = ANY (:ids::uuid[])
    AND c.position > 0
    AND NOT EXISTS (
        SELECT 1 FROM duly.duly_inbox AS i
        WHERE i.run_id = c.parent_id AND i.kind = 'child' AND i.name = c.position::text
    )
ORDER BY c.parent_id, c.position
