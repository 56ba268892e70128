UPDATE duly_lanes SET max_running = :max_running, tickets = :tickets WHERE id = :id
