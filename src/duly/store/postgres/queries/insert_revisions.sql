-- Spread: see insert_runs. Joined: JSON has no control character, so it need not be escaped as an array's elements are.
INSERT INTO duly.duly_revisions (schedule_id, revision, body, payload, made_at, made_by)
SELECT
    n.schedule_id, coalesce(n.revision, (:revision::int[])[1]), n.body, n.payload,
    coalesce(n.made_at, (:made_at::bigint[])[1]), n.made_by
FROM unnest(
    :schedule_id::uuid[], :revision::int[], string_to_array(:body::text, E'\x1f'),
    string_to_array(:payload::text, E'\x1f'), :made_at::bigint[], :made_by::text[]
) AS n (schedule_id, revision, body, payload, made_at, made_by)
