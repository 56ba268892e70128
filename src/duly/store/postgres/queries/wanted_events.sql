SELECT e.name FROM unnest(:events::text[]) AS e (name)
WHERE EXISTS (SELECT FROM duly_interests AS i WHERE i.event = e.name)
