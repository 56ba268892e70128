UPDATE duly.duly_watch SET wanted = :wanted::text
