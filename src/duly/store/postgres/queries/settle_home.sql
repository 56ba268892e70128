UPDATE duly_meta SET home = :home::text
