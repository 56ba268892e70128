-- Spread: see insert_runs.
INSERT INTO duly_revisions (schedule_id, revision, body, payload, made_at, made_by)
SELECT
    n.schedule_id, coalesce(n.revision, (:revision::int[])[1]), n.body, n.payload,
    coalesce(n.made_at, (:made_at::bigint[])[1]), n.made_by
FROM unnest(
    :schedule_id::uuid[], :revision::int[], :body::text[], :payload::text[], :made_at::bigint[], :made_by::text[]
) AS n (schedule_id, revision, body, payload, made_at, made_by)
