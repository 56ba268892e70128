INSERT INTO duly.duly_queues (name, governed, used, updated_at)
VALUES (:name::text, false, 0, :now::bigint)
ON CONFLICT DO NOTHING
