-- Only if nobody changed it meanwhile.
UPDATE duly.duly_inbox AS p SET body = n.body
FROM unnest(:run_id::uuid[], :n::bigint[], :body::text[], :was_body::text[])
    AS n (run_id, n, body, was_body)
WHERE p.run_id = n.run_id AND p.n = n.n AND p.body IS NOT DISTINCT FROM n.was_body
