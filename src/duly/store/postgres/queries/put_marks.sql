INSERT INTO duly.duly_marks (run_id, name, value)
SELECT * FROM unnest(:run_id::uuid[], :name::text[], :value::text[])
ON CONFLICT (run_id, name) DO UPDATE SET value = excluded.value
