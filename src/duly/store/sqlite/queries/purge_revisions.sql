DELETE FROM duly_revisions
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
