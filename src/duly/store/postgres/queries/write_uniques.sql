UPDATE duly_uniques AS u
SET run_id = n.run_id, expires_at = n.expires_at
FROM unnest(:tenant::text[], :key::text[], :run_id::uuid[], :expires_at::bigint[])
    AS n (tenant, key, run_id, expires_at)
WHERE u.tenant = n.tenant AND u.key = n.key
