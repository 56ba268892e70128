SELECT r.schedule_id::text, r.revision, r.body, r.payload
FROM unnest(:schedule_id::uuid[], :revision::int[]) AS n (schedule_id, revision)
JOIN duly.duly_revisions AS r ON r.schedule_id = n.schedule_id AND r.revision = n.revision
