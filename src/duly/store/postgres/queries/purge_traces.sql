DELETE FROM duly.duly_traces WHERE id = ANY (:ids::uuid[])
