-- Only if nobody changed it meanwhile.
UPDATE duly_runs SET payload = :payload
WHERE id = :id AND payload IS :was_payload
