DELETE FROM duly.duly_history WHERE id = ANY (:ids::uuid[]) AND status = 'probe'
