SELECT e.name FROM pg_catalog.unnest(:events::text[]) AS e (name)
WHERE EXISTS (SELECT FROM duly.duly_interests AS i WHERE i.event = e.name)
