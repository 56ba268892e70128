SELECT id, trace FROM duly_traces
WHERE id IN (SELECT value FROM json_each(:ids))
