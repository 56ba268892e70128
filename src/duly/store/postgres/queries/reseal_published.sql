-- Only if nobody changed it meanwhile.
UPDATE duly.duly_published AS p SET value = n.value
FROM unnest(:run_id::uuid[], :name::text[], :value::text[], :was_value::text[])
    AS n (run_id, name, value, was_value)
WHERE p.run_id = n.run_id AND p.name = n.name AND p.value IS NOT DISTINCT FROM n.was_value
