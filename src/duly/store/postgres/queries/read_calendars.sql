SELECT
    c.tenant, c.name, c.id::text, c.revision,
    CASE WHEN c.id IS NOT DISTINCT FROM n.id AND c.revision IS NOT DISTINCT FROM n.revision THEN NULL ELSE c.body END
FROM unnest(:tenant::text[], :name::text[], :id::uuid[], :revision::int[]) AS n (tenant, name, id, revision)
JOIN duly.duly_calendars AS c ON c.tenant = n.tenant AND c.name = n.name
