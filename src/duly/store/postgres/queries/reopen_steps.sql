UPDATE duly.duly_steps AS s SET status = 'asked', seq = NULL, result = NULL, error = NULL, done_at = NULL
FROM unnest(:run_id::uuid[], :position::bigint[]) AS n (run_id, position)
WHERE s.run_id = n.run_id AND s.position = n.position
