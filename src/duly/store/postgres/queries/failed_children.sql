-- Children whose failure killed a run: nothing was asked for after it, and nothing was undone. With how they ended.
SELECT s.run_id::text, s.position, c.run_id::text, h.status
FROM duly.duly_steps AS s
JOIN duly.duly_children AS c ON c.parent_id = s.run_id AND c.position = s.position
LEFT JOIN duly.duly_history AS h ON h.id = c.run_id
WHERE s.run_id = ANY (:ids::uuid[]) AND s.position > 0 AND s.status = 'failed'
    AND NOT EXISTS (SELECT 1 FROM duly.duly_steps AS u WHERE u.run_id = s.run_id AND u.kind = 'undo')
    AND NOT EXISTS (
        SELECT 1 FROM duly.duly_steps AS l WHERE l.run_id = s.run_id AND l.position > s.position AND l.asked_at >= s.done_at
    )
ORDER BY 3
