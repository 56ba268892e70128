UPDATE duly.duly_inbox AS i SET taken = 1
FROM unnest(:run_id::uuid[], :n::bigint[]) AS n (run_id, n)
WHERE i.run_id = n.run_id AND i.n = n.n
