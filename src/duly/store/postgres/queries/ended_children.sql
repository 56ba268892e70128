SELECT h.id::text
FROM duly.duly_children AS c
JOIN duly.duly_history AS h ON h.id = c.run_id
WHERE c.parent_id = ANY (:ids::uuid[]) AND c.position > 0
