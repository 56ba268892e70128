-- Only if nobody changed it meanwhile.
UPDATE duly_history SET payload = :payload, result = :result
WHERE id = :id AND payload IS :was_payload AND result IS :was_result
