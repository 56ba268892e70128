-- Only if nobody changed it meanwhile.
UPDATE duly.duly_secrets AS p SET value = n.value
FROM unnest(:name::text[], :value::text[], :was_value::text[])
    AS n (name, value, was_value)
WHERE p.name = n.name AND p.value IS NOT DISTINCT FROM n.was_value
