INSERT INTO duly_queues (name, governed, used, updated_at)
VALUES (:name, 0, 0, :now)
ON CONFLICT DO NOTHING
