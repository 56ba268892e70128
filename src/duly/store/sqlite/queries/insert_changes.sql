INSERT INTO duly_changes (schedule_id, number, made_at, made_by, action, revision, fields)
SELECT
    :schedule_id, coalesce((SELECT max(number) FROM duly_changes WHERE schedule_id = :schedule_id), 0) + 1, :made_at,
    :made_by, :action, :revision, :fields
