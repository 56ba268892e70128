UPDATE duly_inbox SET taken = 1
WHERE run_id = :run_id AND n = :n
