-- One that began anew since we looked stays.
DELETE FROM duly.duly_requests
WHERE (tenant, key) IN (SELECT tenant, key FROM duly.duly_requests WHERE expires_at <= :now::bigint LIMIT :limit::bigint)
  AND expires_at <= :now::bigint
RETURNING key
