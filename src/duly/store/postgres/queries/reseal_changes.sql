-- Only if nobody changed it meanwhile.
UPDATE duly.duly_changes AS p SET fields = n.fields
FROM unnest(:schedule_id::uuid[], :number::bigint[], :fields::text[], :was_fields::text[])
    AS n (schedule_id, number, fields, was_fields)
WHERE p.schedule_id = n.schedule_id AND p.number = n.number AND p.fields IS NOT DISTINCT FROM n.was_fields
