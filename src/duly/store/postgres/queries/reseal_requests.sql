-- Only if nobody changed it meanwhile.
UPDATE duly.duly_requests AS p SET answer = n.answer
FROM unnest(:tenant::text[], :key::text[], :answer::text[], :was_answer::text[])
    AS n (tenant, key, answer, was_answer)
WHERE p.tenant = n.tenant AND p.key = n.key AND p.answer IS NOT DISTINCT FROM n.was_answer
