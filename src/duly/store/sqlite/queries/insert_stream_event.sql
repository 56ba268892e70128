INSERT INTO duly_events (at, name, reason) VALUES (:now, :name, :reason)
