SELECT id::text, trace FROM duly_traces WHERE id = ANY (:ids::uuid[])
