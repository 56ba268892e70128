WITH asked (schedule_id, revision) AS (VALUES (:schedule_id, :revision))
SELECT r.schedule_id, r.revision, r.body, r.payload
FROM asked CROSS JOIN duly_revisions AS r
WHERE r.schedule_id = asked.schedule_id AND r.revision = asked.revision
