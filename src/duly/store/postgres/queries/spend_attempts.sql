UPDATE duly.duly_runs SET max_attempts = attempt WHERE id = ANY (:ids::uuid[])
