UPDATE duly.duly_uniques AS u
SET run_id = n.run_id, expires_at = n.expires_at
FROM unnest(:tenant::text[], :owner::text[], :key::text[], :run_id::uuid[], :expires_at::bigint[])
    AS n (tenant, owner, key, run_id, expires_at)
WHERE u.tenant = n.tenant AND u.owner = n.owner AND u.key = n.key
