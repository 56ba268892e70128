UPDATE duly_queues SET window_at = :window_at, used = :used, served = :served
WHERE name = :name
