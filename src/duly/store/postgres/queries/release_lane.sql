UPDATE duly.duly_runs SET hold = 0 WHERE id = ANY (:ids::uuid[]) AND hold = 1
