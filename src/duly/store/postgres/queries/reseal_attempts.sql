-- Only if nobody changed it meanwhile.
UPDATE duly.duly_attempts AS p SET stack = n.stack
FROM unnest(:run_id::uuid[], :fence::bigint[], :stack::text[], :was_stack::text[]) AS n (run_id, fence, stack, was_stack)
WHERE p.run_id = n.run_id AND p.fence = n.fence AND p.stack IS NOT DISTINCT FROM n.was_stack
