-- The cursor of each schedule is locked, so nobody else takes the same number.
INSERT INTO duly.duly_changes (schedule_id, number, made_at, made_by, action, revision, fields)
SELECT
    n.schedule_id,
    coalesce((SELECT max(c.number) FROM duly.duly_changes AS c WHERE c.schedule_id = n.schedule_id), 0) + 1,
    n.made_at, n.made_by, n.action, n.revision, n.fields
FROM unnest(
    :schedule_id::uuid[], :made_at::bigint[], :made_by::text[], :action::text[], :revision::int[], :fields::text[]
) AS n (schedule_id, made_at, made_by, action, revision, fields)
