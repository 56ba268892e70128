SELECT id::text, trace FROM duly.duly_traces WHERE id = ANY (:ids::uuid[])
