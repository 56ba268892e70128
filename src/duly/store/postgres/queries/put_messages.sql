INSERT INTO duly_inbox (run_id, n, kind, name, body, error, at, taken)
SELECT run_id, n, kind, name, body, error, :now::bigint, 0
FROM unnest(:run_id::uuid[], :n::bigint[], :kind::text[], :name::text[], :body::text[], :error::text[])
    AS m (run_id, n, kind, name, body, error)
