DELETE FROM duly_requests
WHERE (tenant, key) IN (SELECT tenant, key FROM duly_requests WHERE expires_at <= :now::bigint LIMIT :limit::bigint)
RETURNING key
