UPDATE duly.duly_children SET position = 0 WHERE run_id = ANY (:ids::uuid[]) AND position > 0
