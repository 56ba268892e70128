SELECT run_id, n, kind, name, body, error
FROM duly_inbox
WHERE run_id = :run_id AND n > :after AND taken = 0
ORDER BY n
