INSERT INTO duly_traces (id, trace)
VALUES (:id, :trace)
ON CONFLICT DO NOTHING
