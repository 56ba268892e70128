-- Only if nobody changed it meanwhile.
UPDATE duly.duly_webhooks AS p SET secrets = n.secrets
FROM unnest(:id::uuid[], :secrets::text[], :was_secrets::text[])
    AS n (id, secrets, was_secrets)
WHERE p.id = n.id AND p.secrets IS NOT DISTINCT FROM n.was_secrets
