DELETE FROM duly.duly_event_ids AS e
USING (
    SELECT i.tenant, i.owner, i.id FROM duly.duly_event_ids AS i WHERE i.expires_at <= :now::bigint LIMIT :limit::bigint
) AS old
WHERE e.tenant = old.tenant AND e.owner = old.owner AND e.id = old.id AND e.expires_at <= :now::bigint
RETURNING e.id
