UPDATE duly_watch SET wanted = :wanted
