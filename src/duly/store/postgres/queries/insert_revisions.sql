INSERT INTO duly_revisions (schedule_id, revision, body, payload, made_at, made_by)
SELECT *
FROM unnest(
    :schedule_id::uuid[], :revision::int[], :body::text[], :payload::text[], :made_at::bigint[], :made_by::text[]
)
ON CONFLICT DO NOTHING
