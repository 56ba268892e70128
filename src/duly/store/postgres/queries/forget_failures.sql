-- A redriven workflow goes on from the step that killed it. Not one that was undone, nor one that is a run of its own.
DELETE FROM duly.duly_steps AS s
WHERE s.run_id = ANY (:ids::uuid[]) AND s.kind IN ('step', 'child') AND s.status = 'failed'
    AND s.seq = (SELECT max(l.seq) FROM duly.duly_steps AS l WHERE l.run_id = s.run_id)
    AND NOT EXISTS (SELECT 1 FROM duly.duly_steps AS u WHERE u.run_id = s.run_id AND u.kind = 'undo')
    AND NOT EXISTS (SELECT 1 FROM duly.duly_children AS c WHERE c.parent_id = s.run_id AND c.position = s.position)
