DELETE FROM duly.duly_instances WHERE session = :session::bigint RETURNING session
