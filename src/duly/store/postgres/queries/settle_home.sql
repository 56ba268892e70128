UPDATE duly.duly_meta SET home = :home::text
