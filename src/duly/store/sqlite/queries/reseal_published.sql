-- Only if nobody changed it meanwhile.
UPDATE duly_published SET value = :value
WHERE run_id = :run_id AND name = :name AND value IS :was_value
