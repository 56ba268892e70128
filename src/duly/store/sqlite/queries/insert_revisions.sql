INSERT INTO duly_revisions (schedule_id, revision, body, payload, made_at, made_by)
VALUES (:schedule_id, :revision, :body, :payload, :made_at, :made_by)
