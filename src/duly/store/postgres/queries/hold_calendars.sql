SELECT c.tenant, c.name
FROM unnest(:tenant::text[], :name::text[]) AS n (tenant, name)
JOIN duly.duly_calendars AS c ON c.tenant = n.tenant AND c.name = n.name
ORDER BY c.tenant, c.name
FOR KEY SHARE OF c
