SELECT schedule_id::text, revision, made_at, body
FROM duly.duly_revisions
WHERE schedule_id = ANY (:ids::uuid[])
ORDER BY schedule_id, revision
