-- Only if nobody changed it meanwhile.
UPDATE duly_steps SET result = :result, log = :log
WHERE run_id = :run_id AND position = :position AND result IS :was_result AND log IS :was_log
