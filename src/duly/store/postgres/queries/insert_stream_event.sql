INSERT INTO duly.duly_events (at, name, reason) VALUES (:now::bigint, :name::text, :reason::text)
