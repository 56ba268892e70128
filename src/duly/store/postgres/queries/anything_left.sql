-- In one look: a run that ends meanwhile is in one of the two.
SELECT
    EXISTS (SELECT FROM duly.duly_runs WHERE schedule_id = :schedule_id::uuid)
    OR EXISTS (SELECT FROM duly.duly_history WHERE schedule_id = :schedule_id::uuid)
