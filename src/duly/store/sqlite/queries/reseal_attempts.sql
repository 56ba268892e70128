-- Only if nobody changed it meanwhile.
UPDATE duly_attempts SET stack = :stack
WHERE run_id = :run_id AND fence = :fence AND stack IS :was_stack
