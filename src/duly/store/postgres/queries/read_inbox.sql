SELECT i.run_id::text, i.n, i.kind, i.name, i.body, i.error
FROM unnest(:run_id::uuid[], :after::bigint[]) AS w (run_id, after)
JOIN duly.duly_inbox AS i ON i.run_id = w.run_id AND i.n > w.after AND i.taken = 0
ORDER BY i.run_id, i.n
