SELECT schedule_id, revision, made_at, body
FROM duly_revisions
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
ORDER BY schedule_id, revision
