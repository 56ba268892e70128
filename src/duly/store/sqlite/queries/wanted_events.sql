SELECT e.value FROM json_each(:events) AS e
WHERE EXISTS (SELECT 1 FROM duly_interests AS i WHERE i.event = e.value)
