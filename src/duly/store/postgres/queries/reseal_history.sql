-- Only if nobody changed it meanwhile.
UPDATE duly.duly_history AS p SET payload = n.payload, result = n.result
FROM unnest(:id::uuid[], :payload::text[], :result::text[], :was_payload::text[], :was_result::text[])
    AS n (id, payload, result, was_payload, was_result)
WHERE p.id = n.id AND p.payload IS NOT DISTINCT FROM n.was_payload AND p.result IS NOT DISTINCT FROM n.was_result
