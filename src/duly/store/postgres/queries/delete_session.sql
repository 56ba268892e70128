DELETE FROM duly_instances WHERE session = :session::bigint RETURNING session
