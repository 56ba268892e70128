SELECT
    EXISTS (SELECT 1 FROM duly_runs WHERE schedule_id = :schedule_id)
    OR EXISTS (SELECT 1 FROM duly_history WHERE schedule_id = :schedule_id)
