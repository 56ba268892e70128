UPDATE duly_gatherings SET run_id = :run_id, n = :n
WHERE event = :event AND job = :job AND tenant = :tenant AND owner = :owner
