DELETE FROM duly_traces WHERE id = ANY (:ids::uuid[])
