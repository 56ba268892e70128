-- They are numbered under the lock of their run. Who looks at an older moment (REPEATABLE READ), in which a number is free
-- that has been taken since, is refused as 40001.
INSERT INTO duly.duly_inbox (run_id, n, kind, name, body, error, at, taken)
SELECT run_id, n, kind, name, body, error, :now::bigint, 0
FROM unnest(:run_id::uuid[], :n::bigint[], :kind::text[], :name::text[], :body::text[], :error::text[])
    AS m (run_id, n, kind, name, body, error)
ON CONFLICT DO NOTHING
