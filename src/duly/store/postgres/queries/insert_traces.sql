INSERT INTO duly.duly_traces (id, trace)
SELECT n.id, n.trace FROM unnest(:id::uuid[], :trace::text[]) AS n (id, trace)
ON CONFLICT DO NOTHING
