-- Only if nobody changed it meanwhile.
UPDATE duly.duly_steps AS p SET result = n.result, log = n.log
FROM unnest(:run_id::uuid[], :position::bigint[], :result::text[], :log::text[], :was_result::text[], :was_log::text[])
    AS n (run_id, position, result, log, was_result, was_log)
WHERE p.run_id = n.run_id AND p.position = n.position AND p.result IS NOT DISTINCT FROM n.was_result AND p.log IS NOT DISTINCT FROM n.was_log
