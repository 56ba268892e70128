INSERT INTO duly.duly_published (run_id, name, value, at)
SELECT run_id, name, value, :now::bigint
FROM unnest(:run_id::uuid[], :name::text[], :value::text[]) AS p (run_id, name, value)
ON CONFLICT (run_id, name) DO UPDATE SET value = excluded.value, at = excluded.at
