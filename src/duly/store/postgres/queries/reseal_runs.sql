-- Only if nobody changed it meanwhile.
UPDATE duly.duly_runs AS p SET payload = n.payload
FROM unnest(:id::uuid[], :payload::text[], :was_payload::text[])
    AS n (id, payload, was_payload)
WHERE p.id = n.id AND p.payload IS NOT DISTINCT FROM n.was_payload
