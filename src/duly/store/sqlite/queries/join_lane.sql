UPDATE duly_runs SET lane = schedule_id
WHERE schedule_id = :schedule_id AND lane IS NULL
