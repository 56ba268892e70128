UPDATE duly_attempts SET outcome = 'interrupted', error = NULL
WHERE run_id = :id AND fence = :fence AND session IS :session AND outcome = 'lost'
