DELETE FROM duly.duly_revisions WHERE schedule_id = ANY (:ids::uuid[])
